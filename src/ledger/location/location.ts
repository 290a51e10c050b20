/**
 * A location: the directory that holds a ledger's marker, its data directories and its key store.
 *
 * Owns the marker, the names of the data directories, and the claim of the real path in this
 * process. Does not own the store in the live directory, its lock, the socket or the keys.
 *
 * - L4 Opening creates nothing; only `initLocation` does. The claim comes before LevelDB's lock.
 * - L9 The marker names the live directory and changes in one rename. A data directory is deleted
 *   by nobody but the failed `initLocation` that has made it.
 */
import { mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type IdentityId, TallyError } from '../../core/index.js'
import {
  createFile,
  errorNumber,
  readIfPresent,
  removeFile,
  replaceFile,
  syncDirectory
} from './durable-file.js'
import {
  type DataDirectory,
  encodeMarker,
  isDataDirectory,
  LEDGER_FORMAT_VERSION,
  MARKER_FORMAT,
  type Marker,
  parseMarker
} from './marker.js'
import { claimLocation } from './registry.js'

const MARKER_FILE = 'marker.json'
/**
 * Suffix of the empty file that stands beside a data directory while `initLocation` builds it. It
 * tells what an interrupted init left behind from the data of a ledger whose marker was lost.
 */
const PENDING_SUFFIX = '.pending'

/** A claimed location. Let go of it with `release`, after its store is closed. */
export interface Location {
  /** Absolute path without symbolic links: the name under which owners find each other. */
  readonly realPath: string
  readonly marker: Marker
  /** Path of the live data directory. */
  readonly livePath: string
  /** Path of a data directory that does not exist yet, for an import to build (L9). */
  nextData(): Promise<{ readonly name: DataDirectory; readonly path: string }>
  /**
   * Makes another data directory the live one. The old one stays.
   * Throws `ledger.not_found` when it is not there.
   */
  switchLive(
    name: DataDirectory,
    options?: { readonly identities?: readonly IdentityId[] }
  ): Promise<void>
  /** Adds an identity to the marker. */
  addIdentity(identity: IdentityId): Promise<void>
  release(): void
}

/**
 * Creates a location and claims it. `build` makes the store in the empty directory that it is
 * given; the ledger exists only once `build` has succeeded. Of two processes that create at once,
 * one wins.
 * Throws `ledger.exists`, `ledger.locked`, `ledger.marker_missing` (data without a marker).
 */
export async function initLocation(
  directory: string,
  options: {
    readonly identities: readonly IdentityId[]
    build(dataPath: string): Promise<void>
  }
): Promise<Location> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const realPath = await realpath(directory)
  const release = claimLocation(realPath)
  try {
    if ((await readIfPresent(join(realPath, MARKER_FILE))) !== undefined) {
      throw new TallyError('ledger.exists', { path: realPath })
    }
    await refuseUnmarkedData(realPath)
    const marker = await buildFirst(realPath, options)
    return new OpenLocation(realPath, marker, release)
  } catch (error) {
    release()
    throw error
  }
}

async function buildFirst(
  realPath: string,
  options: Parameters<typeof initLocation>[1]
): Promise<Marker> {
  const live = await freeName(realPath)
  const path = join(realPath, live)
  await createFile(`${path}${PENDING_SUFFIX}`, '')
  await mkdir(path, { mode: 0o700 })
  const marker = newMarker(live, options.identities)
  try {
    await options.build(path)
    await syncDirectory(path)
    await createFile(join(realPath, MARKER_FILE), encodeMarker(marker))
  } catch (error) {
    await rm(path, { recursive: true, force: true })
    await removeFile(`${path}${PENDING_SUFFIX}`)
    if (errorNumber(error) !== 'EEXIST') throw error
    throw new TallyError('ledger.exists', { path: realPath }, { cause: error })
  }
  await removeFile(`${path}${PENDING_SUFFIX}`)
  return marker
}

/**
 * Claims an existing location.
 * Throws `ledger.not_found`, `ledger.marker_missing`, `ledger.locked` (open in this process),
 * `ledger.malformed_marker`, `ledger.newer_version`.
 */
export async function openLocation(directory: string): Promise<Location> {
  const realPath = await realPathOf(directory)
  const release = claimLocation(realPath)
  try {
    const marker = await readMarker(realPath)
    const pending = join(realPath, `${marker.live}${PENDING_SUFFIX}`)
    if ((await readIfPresent(pending)) !== undefined) await removeFile(pending)
    return new OpenLocation(realPath, marker, release)
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Reads the marker of a location without claiming it; undefined when there is no ledger.
 * Throws `ledger.marker_missing`, `ledger.malformed_marker`, `ledger.newer_version`.
 */
export async function inspectLocation(
  directory: string
): Promise<{ readonly realPath: string; readonly marker: Marker } | undefined> {
  try {
    const realPath = await realPathOf(directory)
    return { realPath, marker: await readMarker(realPath) }
  } catch (error) {
    if (error instanceof TallyError && error.code === 'ledger.not_found') return undefined
    throw error
  }
}

class OpenLocation implements Location {
  readonly realPath: string
  readonly release: () => void
  #marker: Marker

  constructor(realPath: string, marker: Marker, release: () => void) {
    this.realPath = realPath
    this.#marker = marker
    this.release = release
  }

  get marker(): Marker {
    return this.#marker
  }

  get livePath(): string {
    return join(this.realPath, this.#marker.live)
  }

  async nextData(): Promise<{ readonly name: DataDirectory; readonly path: string }> {
    const name = await freeName(this.realPath)
    return { name, path: join(this.realPath, name) }
  }

  async switchLive(
    name: DataDirectory,
    { identities = this.#marker.identities }: { readonly identities?: readonly IdentityId[] } = {}
  ): Promise<void> {
    const path = join(this.realPath, name)
    if (!isDataDirectory(name) || !(await dataDirectories(this.realPath)).includes(name)) {
      throw new TallyError('ledger.not_found', { path })
    }
    await syncDirectory(path)
    await this.#replace(newMarker(name, identities))
  }

  async addIdentity(identity: IdentityId): Promise<void> {
    if (this.#marker.identities.includes(identity)) return
    await this.#replace(newMarker(this.#marker.live, [...this.#marker.identities, identity]))
  }

  async #replace(marker: Marker): Promise<void> {
    await replaceFile(join(this.realPath, MARKER_FILE), encodeMarker(marker))
    this.#marker = marker
  }
}

function newMarker(live: DataDirectory, identities: readonly IdentityId[]): Marker {
  return {
    format: MARKER_FORMAT,
    formatVersion: LEDGER_FORMAT_VERSION,
    live,
    identities: [...new Set(identities)].sort()
  }
}

async function readMarker(realPath: string): Promise<Marker> {
  const path = join(realPath, MARKER_FILE)
  const text = await readIfPresent(path)
  if (text !== undefined) return parseMarker(text, path)
  await refuseUnmarkedData(realPath)
  throw new TallyError('ledger.not_found', { path: realPath })
}

async function refuseUnmarkedData(realPath: string): Promise<void> {
  for (const name of await dataDirectories(realPath)) {
    if ((await readIfPresent(join(realPath, `${name}${PENDING_SUFFIX}`))) === undefined) {
      throw new TallyError('ledger.marker_missing', { path: realPath })
    }
  }
}

async function freeName(realPath: string): Promise<DataDirectory> {
  const numbers = (await dataDirectories(realPath)).map((name) => Number(name.slice(5)))
  return `data-${Math.max(0, ...numbers) + 1}`
}

async function dataDirectories(realPath: string): Promise<DataDirectory[]> {
  const entries = await readdir(realPath, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .filter(isDataDirectory)
}

async function realPathOf(directory: string): Promise<string> {
  try {
    return await realpath(directory)
  } catch (error) {
    if (errorNumber(error) === 'ENOENT' || errorNumber(error) === 'ENOTDIR') {
      throw new TallyError('ledger.not_found', { path: directory })
    }
    throw error
  }
}
