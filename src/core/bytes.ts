/** Most bytes of UTF-8 that one UTF-16 unit takes. */
const BYTES_PER_UNIT_MAX = 3

/** Bytes of a text in UTF-8 where they are more than `limit`; undefined where they are not. */
export function bytesOver(text: string, limit: number): number | undefined {
  if (text.length * BYTES_PER_UNIT_MAX <= limit) return undefined
  const bytes = Buffer.byteLength(text)
  return bytes > limit ? bytes : undefined
}
