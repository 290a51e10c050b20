import { canonicalize } from '../../core/index.js'

/** Something that is not as doing it again says it should be. */
export interface Finding {
  readonly field: string
  /** What is recorded. */
  readonly signed: string
  /** What doing it again gives. */
  readonly computed: string
  /** State key or run that it is about. */
  readonly key?: string
  /** For state: the value before. */
  readonly before?: string
}

/** A finding when two plain values are not the same JSON; texts are made only then. */
export function differing(field: string, computed: unknown, signed: unknown): Finding | undefined {
  if (sameJson(computed, signed)) return undefined
  return { field, signed: textOf(signed), computed: textOf(computed) }
}

function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object') return false
  if (one === null || other === null) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => sameJson(item, other[index]))
    )
  }
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  for (const key of keys) {
    if (!Object.hasOwn(other, key)) return false
    const member = memberOf(one, key)
    if (member !== memberOf(other, key) && !sameJson(member, memberOf(other, key))) return false
  }
  return true
}

function memberOf(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key]
}

export function unexpected(field: string, computed: string, signed: string): Finding {
  return { field, signed, computed }
}

/** The first finding of several checks. */
export function firstOf(...findings: readonly (Finding | undefined)[]): Finding | undefined {
  return findings.find((finding) => finding !== undefined)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? 'absent' : canonicalize(value)
}
