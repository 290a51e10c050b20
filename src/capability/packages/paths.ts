import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { isTallyError } from '../../core/index.js'
import type { Refusal } from '../manifest/manifest.js'

/** A path as the file system knows it, or why it is not one of the package's. */
export type InsidePath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly refusal: Refusal }

// One spelling for one file: nothing that some layer below would decode, expand or normalise.
const plainSegment = /^[A-Za-z0-9_@][A-Za-z0-9_.@ +-]*$/

/**
 * Resolves a relative path below a package's directory (itself a real path). Refused: `..`,
 * absolute paths, drive letters, URLs, percent signs, backslashes, NUL, `~`, dot segments, and
 * whatever leads out through a symbolic link (reliability: T17).
 */
export async function resolveInside(directory: string, relative: string): Promise<InsidePath> {
  const segments = relative.split('/')
  if (!segments.every((segment) => plainSegment.test(segment) && segment.normalize() === segment)) {
    return refused('path_outside', relative, 'is not a plain path inside the package')
  }
  return realInside(directory, join(directory, ...segments))
}

/**
 * Whether a file, once every symbolic link is followed, lies below the directory. Only regular
 * files do: reading a pipe waits for ever, and a device has no end.
 */
export async function realInside(directory: string, path: string): Promise<InsidePath> {
  let real: string
  let isFile: boolean
  try {
    real = await realpath(path)
    isFile = (await stat(real)).isFile()
  } catch (error) {
    if (isTallyError(error)) throw error
    return refused('missing_file', nameBelow(directory, path), 'cannot be found')
  }
  if (!real.startsWith(directory.endsWith(sep) ? directory : directory + sep)) {
    return refused('path_outside', nameBelow(directory, path), 'lies outside the package')
  }
  if (!isFile) return refused('unreadable', nameBelow(directory, path), 'is no regular file')
  return { ok: true, path: real }
}

/**
 * Why an import specifier cannot be followed, or undefined. Relative ones and names of packages
 * that the directory brings along are left to the resolver, whose answer is checked by
 * `realInside`.
 */
export function specifierProblem(specifier: string): string | undefined {
  if (/^(?:\/|[A-Za-z]:|#|~)/.test(specifier)) return 'is not relative'
  if (specifier.includes(':')) return 'names a scheme'
  if (/[%\\\0?]/.test(specifier)) return 'has an encoded or unusual spelling'
  return undefined
}

function refused(code: Refusal['code'], name: string, problem: string): InsidePath {
  return {
    ok: false,
    refusal: { code, path: [name], message: `${JSON.stringify(name)} ${problem}` }
  }
}

function nameBelow(directory: string, path: string): string {
  return path.startsWith(directory) ? path.slice(directory.length).replace(/^[\\/]/, '') : path
}
