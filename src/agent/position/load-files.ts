import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type EffectCall, EffectFailure, type Provider } from '../../block/index.js'
import { isJsonObject, type Json, limits } from '../../core/index.js'
import { LOAD_EFFECT } from './blocks.js'

/**
 * Answers loaders of flows: text files below one directory of the host, and nothing outside it,
 * symbolic links included. What was read is sealed, so a replay reads no file.
 */
export function fileLoader(root: string): Provider {
  return { name: LOAD_EFFECT, perform: (call) => load(root, call) }
}

async function load(root: string, { request }: EffectCall): Promise<Json> {
  const asked = isJsonObject(request) ? request : {}
  const path = typeof asked['path'] === 'string' ? asked['path'] : '.'
  const directory = await inside(root, path)
  if (asked['kind'] === 'names') return { path, names: await namesIn(directory) }
  const names = await filesBelow(directory)
  const documents: Json[] = []
  let bytes = 0
  for (const name of names) {
    const file = await inside(root, join(path, name))
    bytes += (await stat(file)).size
    if (bytes > limits.LOADER_BYTES_MAX) throw refused('too_many_bytes', path)
    documents.push({ path: name, content: (await readFile(file, 'utf8')).toWellFormed() })
  }
  return { path, documents }
}

/** The real path, which lies in the root. */
async function inside(root: string, path: string): Promise<string> {
  const realRoot = await realpath(root)
  const real = await realpath(resolve(realRoot, path)).catch(() => {
    throw refused('not_found', path)
  })
  const way = relative(realRoot, real)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw refused('outside_root', path)
  }
  return real
}

/** What stands in a directory itself; folders end with `/`. */
async function namesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  if (entries.length > limits.LOADER_FILES_MAX) throw refused('too_many_files', '.')
  return entries
    .filter(({ name }) => !name.startsWith('.'))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort()
}

/** Paths with `/`, sorted by code units; names that begin with a dot are left out. */
async function filesBelow(directory: string, prefix = ''): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => {
    throw refused('not_found', prefix)
  })
  const found: string[] = []
  for (const entry of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const path = `${prefix}${entry.name}`
    if (entry.isDirectory()) {
      found.push(...(await filesBelow(join(directory, entry.name), `${path}/`)))
    } else if (entry.isFile()) found.push(path)
    if (found.length > limits.LOADER_FILES_MAX) throw refused('too_many_files', prefix)
  }
  return found
}

function refused(problem: string, path: string): EffectFailure {
  return new EffectFailure('load_failed', { definite: true, details: { problem, path } })
}
