import { SECRET_LENGTH_MIN } from '../limits.js'
import { isCredentialName } from './names.js'

/** Longer parts of an address are keys rather than words, whatever they are made of. */
const WORD_LENGTH_MAX = 16

/**
 * The parts of a secret address that are secret by themselves: its credentials, and keys in its
 * path. Words such as `ethereum` are not, or every text that has them would lose them.
 */
export function partsOfUrl(text: string): readonly string[] {
  const url = urlOf(text)
  if (url === undefined) return []
  return longEnough([...credentialsOf(text), ...url.pathname.split('/').filter(looksLikeKey)])
}

/**
 * What is secret in any address: its password, and keys in its user, query and fragment. In the
 * path of one that is no secret stand names, such as that of a model.
 */
export function credentialsOf(text: string): readonly string[] {
  const url = urlOf(text)
  if (url === undefined) return []
  const { username, password, searchParams, hash } = url
  const named = [...searchParams].flatMap(([name, value]) =>
    isCredentialName(name) ? [value] : []
  )
  const values = [...searchParams.values(), username, hash.slice(1)]
  return longEnough([password, ...named, ...values.filter(looksLikeKey)])
}

/** Whether an address holds what must not be shown: then only where it comes from is. */
export function holdsCredentials(text: string): boolean {
  const url = urlOf(text)
  if (url === undefined) return false
  return url.username !== '' || url.password !== '' || credentialsOf(text).length > 0
}

function urlOf(text: string): URL | undefined {
  const isOne = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text)
  return isOne ? new URL(text) : undefined
}

function longEnough(parts: readonly string[]): readonly string[] {
  return [...new Set(parts)].filter((part) => part.trim().length >= SECRET_LENGTH_MIN)
}

function looksLikeKey(part: string): boolean {
  if (part.length > WORD_LENGTH_MAX) return true
  return part.length >= SECRET_LENGTH_MIN && /\d/.test(part) && /[a-z]/i.test(part)
}
