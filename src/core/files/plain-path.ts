import { FILE_PATH_LENGTH_MAX } from '../limits.js'

export type PlainPath =
  | { readonly ok: true; readonly segments: readonly string[] }
  | { readonly ok: false; readonly problem: 'outside_root' | 'hidden' | 'not_plain' }

/**
 * The names of a relative path as a document writes it. One spelling for one file: what some layer
 * below would decode, expand or strip is refused, and so is every name that begins with a dot.
 */
export function plainPath(path: string): PlainPath {
  if (path.length > FILE_PATH_LENGTH_MAX || notPlain.test(path)) return refused('not_plain')
  if (path.startsWith('/') || path.startsWith('~')) return refused('outside_root')
  const parts = path.split('/')
  // `.`, `./docs` and `docs/` are how people write paths.
  if (parts[0] === '.') parts.shift()
  if (parts.at(-1) === '') parts.pop()
  if (parts.includes('..')) return refused('outside_root')
  if (parts.some((part) => part.startsWith('.'))) return refused('hidden')
  // Windows strips dots and blanks from the end of a name.
  if (parts.some((part) => part === '' || /[. ]$/.test(part))) return refused('not_plain')
  return { ok: true, segments: parts }
}

/** Control characters, backslashes and drives; on Windows streams, too. */
const notPlain = process.platform === 'win32' ? /[\p{Cc}\\:]/u : /[\p{Cc}\\]|^[a-z]:/iu

function refused(problem: (PlainPath & { ok: false })['problem']): PlainPath {
  return { ok: false, problem }
}
