/** Text of a value that is walked wherever it is used. */
const SHORT_LENGTH = 64

/**
 * About how long the canonical JSON of a plain value is, in UTF-16 units. What is used in many
 * places counts each time and is walked once: so a value that is small in memory and large as text
 * can be refused before it is written out. Linear in what is in memory; at most as deep as JSON.
 */
export function writtenLength(value: unknown, known = new Map<object, number>()): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  const before = known.get(value)
  if (before !== undefined) return before
  let length = 2
  if (Array.isArray(value)) {
    for (const item of value) length += 1 + writtenLength(item, known)
  } else {
    for (const key of Object.keys(value)) {
      length += key.length + 4 + writtenLength((value as Record<string, unknown>)[key], known)
    }
  }
  // To walk what is short again is cheaper than to keep it.
  if (length > SHORT_LENGTH) known.set(value, length)
  return length
}
