import { canonicalize } from '../core/index.js'

/** Something that is not as doing it again says it should be. */
export interface Finding {
  readonly field: string
  /** What doing it again gives. */
  readonly expected: string
  /** What is recorded. */
  readonly actual: string
  /** State key or run that it is about. */
  readonly key?: string
  /** For state: the value before. */
  readonly before?: string
}

/** A finding when two plain values are not the same canonical JSON. */
export function differing(field: string, expected: unknown, actual: unknown): Finding | undefined {
  if (expected === actual) return undefined
  const isSame =
    expected !== undefined &&
    actual !== undefined &&
    canonicalize(expected) === canonicalize(actual)
  return isSame ? undefined : { field, expected: textOf(expected), actual: textOf(actual) }
}

/** The first finding of several checks. */
export function firstOf(...findings: readonly (Finding | undefined)[]): Finding | undefined {
  return findings.find((finding) => finding !== undefined)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? 'absent' : canonicalize(value)
}
