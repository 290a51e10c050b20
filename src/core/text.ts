/** Most bytes of UTF-8 that one UTF-16 unit takes. */
const BYTES_PER_UNIT_MAX = 3

/** Bytes of a text in UTF-8 where they are more than `limit`; undefined where they are not. */
export function bytesOver(text: string, limit: number): number | undefined {
  if (text.length * BYTES_PER_UNIT_MAX <= limit) return undefined
  const bytes = Buffer.byteLength(text)
  return bytes > limit ? bytes : undefined
}

/**
 * The same text in one piece. V8 keeps what was joined as a tree of its parts and walks all of it
 * for each use: for what is joined once and used often. `text` is well-formed.
 */
export function flatText(text: string): string {
  return Buffer.from(text).toString()
}

/**
 * A value from outside as text: texts as they are, everything else as JSON. `String` throws for an
 * object with a member `toString`, which JSON may have.
 */
export function shownText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' ? `${value}` : (JSON.stringify(value) ?? 'undefined')
}
