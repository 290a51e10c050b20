import { isTallyError } from './errors/error.js'
import { canonicalizeLedgerValue } from './json/canonicalize.js'
import type { Json } from './json/value.js'
import { THROWN_TEXT_LENGTH_MAX, VALUE_BYTES_MAX } from './limits.js'
import { bytesOver } from './text.js'

/** A member of whatever was thrown; undefined when it cannot be read. Never throws itself. */
export function thrownMember(thrown: unknown, key: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  try {
    return Reflect.get(thrown, key)
  } catch {
    return undefined
  }
}

/** `instanceof`, which a proxy can make throw. */
export function isThrown<Type>(
  thrown: unknown,
  type: abstract new (...given: never[]) => Type
): thrown is Type {
  try {
    return thrown instanceof type
  } catch {
    return false
  }
}

/** Keeps a promise that a synchronous function has returned from ending the process. */
export function ignoreRejection(value: unknown): void {
  if (isThrown(value, Promise)) Promise.prototype.catch.call(value, () => undefined)
}

/** Text of whatever was thrown, fit for a journal; never throws itself. */
export function plainText(value: unknown): string {
  try {
    // Cut first: a cut may leave half of a character behind.
    return String(value).slice(0, THROWN_TEXT_LENGTH_MAX).toWellFormed()
  } catch {
    return typeof value
  }
}

/** Details of a failure, fit for a journal: what is not plain JSON is named instead of kept. */
export function plainDetails(details: unknown): Json {
  try {
    const text = canonicalizeLedgerValue(details ?? null)
    const bytes = bytesOver(text, VALUE_BYTES_MAX)
    return bytes === undefined ? (JSON.parse(text) as Json) : { details_too_large: bytes }
  } catch (error) {
    return {
      details_invalid: isTallyError(error)
        ? plainText(thrownMember(error, 'code'))
        : 'core.not_json'
    }
  }
}
