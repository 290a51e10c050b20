import { SECRET_LENGTH_MIN } from '../limits.js'
import { isCredentialName } from './names.js'

/** Longer parts of an address are keys rather than words, whatever they are made of. */
const WORD_LENGTH_MAX = 16

/**
 * The parts of an address that are secret by themselves: password, keys in the query and in the
 * path. Words such as `ethereum` are not, or every text that has them would lose them.
 */
export function partsOfUrl(text: string): readonly string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return []
  const { username, password, pathname, searchParams, hash } = new URL(text)
  const named = [...searchParams].flatMap(([name, value]) =>
    isCredentialName(name) ? [value] : []
  )
  const values = [...searchParams.values(), ...pathname.split('/'), username, hash.slice(1)]
  const parts = [password, ...named, ...values.filter(looksLikeKey)]
  return [...new Set(parts)].filter((part) => part.trim().length >= SECRET_LENGTH_MIN)
}

/** Whether an address holds what must not be shown: then only where it comes from is. */
export function holdsCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username !== '' || password !== '' || partsOfUrl(text).length > 0
}

function looksLikeKey(part: string): boolean {
  if (part.length > WORD_LENGTH_MAX) return true
  return part.length >= SECRET_LENGTH_MIN && /\d/.test(part) && /[a-z]/i.test(part)
}
