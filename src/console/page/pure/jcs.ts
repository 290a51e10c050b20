/**
 * Canonical JSON (RFC 8785), as the kernel writes it: the page computes digests of its own, and
 * cannot load the kernel, which is of Node. A test compares the two. Throws for what is no JSON.
 */
export function canonicalText(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value === 'string') return canonicalString(value)
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object') throw new TypeError(`no JSON: ${typeof value}`)
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${canonicalString(key)}:${canonicalText(member)}`)
  return `{${members.join(',')}}`
}

function canonicalString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('no JSON: a string has a lone surrogate')
  return JSON.stringify(text)
}

/** SHA-256 of the canonical text, in lower-case hex. */
export function hashOf(value: unknown): Promise<string> {
  return textHash(canonicalText(value))
}

/** SHA-256 of a text in UTF-8, in lower-case hex. */
export async function textHash(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
