import type { Provider } from '../../block/index.js'
import { isOwner } from '../../capability/index.js'
import { type EffectCall, EffectFailure } from '../../code/index.js'
import { FileRoot, isJsonObject, type Json, limits } from '../../core/index.js'
import { LOAD_EFFECT } from './blocks.js'

/** What loaders of flows may read of this machine (semantics.md K15). */
export interface LoaderFiles {
  /**
   * The only directory that loaders read; null: none. Default: the working directory for runs that
   * the owner started, and none for those of others.
   */
  readonly root: string | null | undefined
  /** Files and directories that no loader reads, wherever they lie. */
  readonly closed: () => readonly string[]
}

/**
 * Answers loaders of flows: text files below one directory of the host, through the one door that
 * {@link FileRoot} is. What was read is sealed, so a replay reads no file.
 */
export function fileLoader(files: LoaderFiles): Provider {
  return { name: LOAD_EFFECT, perform: (call) => load(files, call) }
}

async function load(files: LoaderFiles, { request, principal }: EffectCall): Promise<Json> {
  const asked = isJsonObject(request) ? request : {}
  const path = typeof asked['path'] === 'string' && asked['path'] !== '' ? asked['path'] : '.'
  const directory = files.root === undefined ? rootFor(principal) : files.root
  if (directory === null) throw refused('no_root', path)
  const opened = await FileRoot.open(directory, { closed: files.closed(), ignoreFiles: true })
  if (!opened.ok) throw refused('no_root', path)
  const { root } = opened
  if (asked['kind'] === 'names') {
    const listed = await root.names(path)
    if (!listed.ok) throw refused(listed.problem, listed.path)
    if (listed.names.length > limits.LOADER_FILES_MAX) throw refused('too_many_files', path)
    return { path, names: listed.names }
  }
  const listed = await root.filesBelow(path, { filesMax: limits.LOADER_FILES_MAX })
  if (!listed.ok) throw refused(listed.problem, listed.path)
  const below = path.replace(/\/$/, '')
  const documents: Json[] = []
  let bytesLeft = limits.LOADER_BYTES_MAX
  for (const name of listed.names) {
    const read = await root.readText(`${below}/${name}`, { bytesMax: bytesLeft })
    // Found by what is in it; those that are known by their names were left out before.
    if (!read.ok && read.problem === 'credentials') continue
    if (!read.ok) throw refused(read.problem, read.path)
    bytesLeft -= read.bytes
    documents.push({ path: name, content: read.text })
  }
  return { path, documents }
}

/** A host that says nothing lets its owner read what lies where the process was started. */
function rootFor(principal: Json | undefined): string | null {
  return isOwner(principal ?? null) ? process.cwd() : null
}

function refused(problem: string, path: string): EffectFailure {
  return new EffectFailure('load_failed', { definite: true, details: { problem, path } })
}
