import {
  isJsonObject,
  isSecretName,
  type Json,
  limits,
  withoutAddresses
} from '../../core/index.js'

const keyed = /\b(?:sk|pk|rk|key|token)[-_][A-Za-z0-9_-]{16,}\b/g
const bearer = /\bbearer\s+[A-Za-z0-9._~+/=-]{8,}/gi

const depthMax = 6

/** A text without addresses of endpoints and without what looks like a key, cut to its limit. */
export function cleanText(text: string): string {
  const clean = withoutAddresses(text.toWellFormed())
    .replace(bearer, '[secret]')
    .replace(keyed, '[secret]')
  const { DIAGNOSTIC_TEXT_LENGTH_MAX: limit } = limits
  return clean.length <= limit ? clean : `${clean.slice(0, limit)}...`
}

/** JSON for a diagnostic: secret members hidden, texts cleaned, long lists and deep values cut. */
export function redacted(value: Json, depth = 0): Json {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depthMax) return '[cut]'
  const { DIAGNOSTIC_LIST_LENGTH_MAX: limit } = limits
  if (Array.isArray(value)) {
    return value.slice(0, limit).map((item: Json) => redacted(item, depth + 1))
  }
  if (!isJsonObject(value)) return null
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, limit)
      .map(([name, member]) => [
        cleanText(name),
        isSecretName(name) ? '[secret]' : redacted(member, depth + 1)
      ])
  )
}
