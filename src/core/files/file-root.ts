import type { Dirent } from 'node:fs'
import { lstat, opendir, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { FILE_ENTRIES_MAX, FILE_LEVELS_MAX } from '../limits.js'
import { Ignored, type IgnoreProblem } from './ignored.js'
import { plainPath } from './plain-path.js'
import { hasPrivateContent, isPrivateName } from './private-names.js'
import { type FileReadProblem, liesAt, readRegularFile } from './regular-file.js'

/**
 * The one door to files that are read because a document or a package says so.
 *
 * Owns: what one reading has found out so far; each reading opens the root anew. Does not own: the
 * root and what is closed, which a host gives.
 *
 * Invariants:
 * - F1 What is read lies below the root once all symbolic links are followed, and still does after
 *   it was opened.
 * - F2 No name on the way from the root begins with a dot or looks like credentials; nothing that a
 *   host closed, no ledger, and nothing that ignore files leave out is read, by whatever name.
 * - F3 Only regular files are read, and no more bytes, entries and levels than are allowed.
 */
export class FileRoot {
  readonly #root: string
  readonly #closed: ReadonlySet<string>
  readonly #ignored: Ignored | undefined
  /** Directories that were asked for being closed or a ledger. */
  readonly #asked = new Map<string, boolean>()
  #entries = 0

  private constructor(root: string, closed: ReadonlySet<string>, ignored: Ignored | undefined) {
    this.#root = root
    this.#closed = closed
    this.#ignored = ignored
  }

  /** Opens a directory for one reading. */
  static async open(
    directory: string,
    { within, closed = [], ignoreFiles = false }: FileRootOptions = {}
  ): Promise<OpenedRoot> {
    const root = await realpath(directory).catch(() => undefined)
    const isThere = root !== undefined && (await stat(root)).isDirectory()
    if (!isThere) return { ok: false, problem: 'not_found', path: '.' }
    if (within !== undefined && !isInside(await realpath(within), root)) {
      return { ok: false, problem: 'outside_root', path: '.' }
    }
    const identities = new Set<string>()
    for (const path of closed) {
      const identity = await identityOf(path)
      if (identity !== undefined) identities.add(identity)
    }
    const ignored = ignoreFiles ? await Ignored.below(root) : undefined
    return { ok: true, root: new FileRoot(root, identities, ignored) }
  }

  /** The text of one file. */
  async readText(path: string, { bytesMax }: { readonly bytesMax: number }): Promise<TextRead> {
    const found = await this.#real(path, false)
    if (!found.ok) return found
    const read = await readRegularFile(found.real, { bytesMax, isReal: true })
    if (!read.ok) return { ...read, path }
    const text = read.bytes.toString('utf8').toWellFormed()
    if (hasPrivateContent(text)) return { ok: false, problem: 'credentials', path }
    return { ok: true, text, bytes: read.bytes.length }
  }

  /**
   * Names in a directory itself that may be read, sorted by code units; folders end with `/`. Links
   * count as what they lead to.
   */
  async names(path: string): Promise<NamesRead> {
    const found = await this.#real(path, true)
    if (!found.ok) return found
    const listed = await this.#entriesOf(found.real, path)
    if (!listed.ok) return listed
    const names: string[] = []
    for (const { name, kind } of listed.entries) {
      const isDirectory = kind === 'link' ? await this.#linked(path, name) : kind === 'directory'
      if (isDirectory !== undefined) names.push(isDirectory ? `${name}/` : name)
    }
    return { ok: true, names: names.sort() }
  }

  /** Whether a link leads to a directory; undefined where it leads to nothing that may be read. */
  async #linked(path: string, name: string): Promise<boolean | undefined> {
    const found = await this.#real(`${path.replace(/\/$/, '')}/${name}`, false)
    const status = found.ok ? await lstat(found.real).catch(() => undefined) : undefined
    return status?.isDirectory() || status?.isFile() ? status.isDirectory() : undefined
  }

  /** Paths of the files below a directory, from it and with `/`, sorted by code units. */
  async filesBelow(path: string, { filesMax }: { readonly filesMax: number }): Promise<NamesRead> {
    const found = await this.#real(path, true)
    if (!found.ok) return found
    const names: string[] = []
    const walk = async (real: string, prefix: string, level: number): Promise<Refused | null> => {
      if (level > FILE_LEVELS_MAX) return { ok: false, problem: 'too_many_levels', path: prefix }
      const listed = await this.#entriesOf(real, prefix === '' ? path : prefix)
      if (!listed.ok) return listed
      for (const { name, kind } of listed.entries) {
        const below = `${prefix}${name}`
        if (kind === 'directory') {
          const refused = await walk(join(real, name), `${below}/`, level + 1)
          if (refused !== null) return refused
        } else if (kind === 'file') names.push(below)
        if (names.length > filesMax) return { ok: false, problem: 'too_many_files', path }
      }
      return null
    }
    return (await walk(found.real, '', 0)) ?? { ok: true, names }
  }

  /** The real path behind what a document says, if it may be read. */
  async #real(path: string, isDirectory: boolean): Promise<RealPath> {
    const refused = (problem: FileProblem): RealPath => ({ ok: false, problem, path })
    const plain = plainPath(path)
    if (!plain.ok) return refused(plain.problem)
    const written = join(this.#root, ...plain.segments)
    const real = await realpath(written).catch(() => undefined)
    if (real === undefined) return refused('not_found')
    if (!isInside(this.#root, real)) return refused('outside_root')
    const way = relative(this.#root, real)
    const names = way === '' ? [] : way.split(sep)
    // Links inside the root may lead to what may not be named.
    for (const name of [...plain.segments, ...names]) {
      if (name.startsWith('.')) return refused('hidden')
      if (isPrivateName(name)) return refused('credentials')
    }
    if (await this.#isClosed(real)) return refused('closed')
    const left = way === '' ? undefined : await this.#ignored?.problem(real, isDirectory)
    return left === undefined ? { ok: true, real } : refused(left)
  }

  /** Whether a host has closed a path or a directory around it, or a ledger lies there. */
  async #isClosed(path: string): Promise<boolean> {
    const known = this.#asked.get(path)
    if (known !== undefined) return known
    const identity = await identityOf(path)
    const around = dirname(path)
    const isClosed =
      (identity !== undefined && this.#closed.has(identity)) ||
      (await holdsLedger(path)) ||
      (around !== path && (await this.#isClosed(around)))
    this.#asked.set(path, isClosed)
    return isClosed
  }

  /** What may be read of a directory, sorted, and its links; neither pipes nor devices. */
  async #entriesOf(real: string, path: string): Promise<EntriesRead> {
    const refused = (problem: FileProblem): EntriesRead => ({ ok: false, problem, path })
    const found: Entry[] = []
    try {
      const before = await lstat(real, { bigint: true })
      for await (const entry of await opendir(real)) {
        this.#entries += 1
        if (this.#entries > FILE_ENTRIES_MAX) return refused('too_many_files')
        const { name } = entry
        const kind = kindOf(entry)
        if (kind === undefined) continue
        if (!plainPath(name).ok || name === 'node_modules' || isPrivateName(name)) continue
        found.push({ name, kind })
      }
      if (!(await liesAt(real, before))) return refused('moved')
    } catch {
      return refused('not_found')
    }
    const entries: Entry[] = []
    for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const below = join(real, entry.name)
      const left = await this.#ignored?.problem(below, entry.kind === 'directory')
      if (left !== undefined && left !== 'ignored') return refused(left)
      if (left === undefined && !(await this.#isClosed(below))) entries.push(entry)
    }
    return { ok: true, entries }
  }
}

export interface FileRootOptions {
  /** A directory in which the root lies once all symbolic links are followed. */
  readonly within?: string
  /** Files and directories that are never read, wherever they lie. */
  readonly closed?: readonly string[]
  /** Whether `.gitignore` files leave out what they name. */
  readonly ignoreFiles?: boolean
}

export type FileProblem =
  | FileReadProblem
  | IgnoreProblem
  | (ReturnType<typeof plainPath> & { readonly ok: false })['problem']
  | 'closed'
  | 'credentials'
  | 'too_many_files'
  | 'too_many_levels'

export interface Refused {
  readonly ok: false
  readonly problem: FileProblem
  /** As the document writes it. */
  readonly path: string
}

export type OpenedRoot = { readonly ok: true; readonly root: FileRoot } | Refused
export type TextRead =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | Refused
export type NamesRead = { readonly ok: true; readonly names: readonly string[] } | Refused
type RealPath = { readonly ok: true; readonly real: string } | Refused
type EntriesRead = { readonly ok: true; readonly entries: readonly Entry[] } | Refused

interface Entry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link'
}

function kindOf(entry: Dirent): Entry['kind'] | undefined {
  if (entry.isDirectory()) return 'directory'
  if (entry.isFile()) return 'file'
  return entry.isSymbolicLink() ? 'link' : undefined
}

function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** By this, and not by its name, something is known again: case, links and mounts change names. */
async function identityOf(path: string): Promise<string | undefined> {
  return stat(path, { bigint: true }).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => undefined
  )
}

/** Whether a directory is that of a ledger (store.md): its marker says so. */
async function holdsLedger(directory: string): Promise<boolean> {
  const read = await readRegularFile(join(directory, 'marker.json'), { bytesMax: MARKER_BYTES_MAX })
  return read.ok && read.bytes.includes('"tally-ledger"')
}

const MARKER_BYTES_MAX = 64 * 1024
