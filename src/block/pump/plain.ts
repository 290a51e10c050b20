import {
  bytesOver,
  canonicalizeLedgerValue,
  isTallyError,
  type Json,
  limits
} from '../../core/index.js'

/** Most characters of a message or label that somebody else's code has thrown. */
const TEXT_LENGTH_MAX = 1_000

/** Text of whatever was thrown, fit for a journal; never throws itself. */
export function plainText(value: unknown): string {
  try {
    // Cut first: a cut may leave half of a character behind.
    return String(value).slice(0, TEXT_LENGTH_MAX).toWellFormed()
  } catch {
    return typeof value
  }
}

/** Details of a failure, fit for a journal: what is not plain JSON is named instead of kept. */
export function plainDetails(details: unknown): Json {
  try {
    const text = canonicalizeLedgerValue(details ?? null)
    const bytes = bytesOver(text, limits.VALUE_BYTES_MAX)
    return bytes === undefined ? (JSON.parse(text) as Json) : { details_too_large: bytes }
  } catch (error) {
    return { details_invalid: isTallyError(error) ? error.code : 'core.not_json' }
  }
}
