/**
 * A location: the directory that holds a ledger's marker, its data directories and its key store.
 *
 * Owns the marker, the names of the data directories, and the claim of the real path in this
 * process. Does not own the store in the live directory, its lock, the socket or the keys.
 *
 * - L4 Opening creates nothing; only `initLocation` does. The claim comes before LevelDB's lock.
 * - L9 The marker names the live directory and changes in one rename. A data directory that it has
 *   named is never deleted; one that was begun and not finished, by the next import.
 */
import { mkdir, realpath, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorNumber, type IdentityId, ledgerError, TallyError } from '../../core/index.js'
import { levelStores, type Stores } from '../stores/stores.js'
import {
  buildData,
  dataDirectories,
  discardData,
  finishData,
  freeName,
  type LetGo,
  refuseUnmarkedData,
  removeUnfinished,
  unfinished
} from './building.js'
import { createFile, readIfPresent, replaceFile, syncDirectory } from './durable-file.js'
import {
  type DataDirectory,
  encodeMarker,
  isDataDirectory,
  type Marker,
  mainIdentity,
  newMarker,
  parseMarker
} from './marker.js'
import { claimLocation } from './registry.js'

const MARKER_FILE = 'marker.json'

/** A claimed location. Let go of it with `release`, after its store is closed. */
export interface Location {
  /** Absolute path without symbolic links: the name under which owners find each other. */
  readonly realPath: string
  readonly marker: Marker
  /** Makes and opens the stores of its data directories. */
  readonly stores: Stores
  /** Path of the live data directory. */
  readonly livePath: string
  /** Path of a data directory that does not exist yet (L9). */
  nextData(): Promise<{ readonly name: DataDirectory; readonly path: string }>
  /**
   * Makes another data directory the live one. The old one stays.
   * Throws `ledger.not_found` when it is not there.
   */
  switchLive(
    name: DataDirectory,
    options?: {
      readonly identities?: readonly IdentityId[]
      readonly followers?: readonly IdentityId[]
    }
  ): Promise<void>
  /**
   * Builds a data directory and makes it the live one, once `build` says so; then `follower` is
   * one. What interrupted builds left behind is removed first.
   */
  replaceLive(follower: IdentityId, build: (dataPath: string) => Promise<boolean>): Promise<void>
  /** Takes an identity from the followers: it was taken over. */
  endFollowing(identity: IdentityId): Promise<void>
  /** Whether data that was live before is kept beside the live data. */
  keepsData(): Promise<boolean>
  /** Adds identities to the marker, which is written once for all of them. */
  addIdentities(identities: readonly IdentityId[]): Promise<void>
  release(): void
}

/**
 * Creates a location and claims it. `build` makes the store in the empty directory that it is
 * given; the ledger exists only once `build` has succeeded. Of two processes that create at once,
 * one wins. What `build` returns lets go of what it holds, when the marker is there.
 * Throws `ledger.exists`, `ledger.locked`, `ledger.marker_missing` (data without a marker).
 */
export async function initLocation(
  directory: string,
  options: {
    readonly identities: readonly IdentityId[]
    /** Identities that are imported. */
    readonly followers?: readonly IdentityId[]
    /** Removes what interrupted builds left behind. */
    readonly cleans?: boolean
    readonly stores?: Stores
    build(dataPath: string): Promise<LetGo | undefined>
  }
): Promise<Location> {
  const { stores = levelStores } = options
  const made = await mkdir(directory, { recursive: true, mode: 0o700 })
  const realPath = await realpath(directory)
  const release = claimLocation(realPath)
  try {
    if ((await readIfPresent(join(realPath, MARKER_FILE))) !== undefined) {
      throw ledgerError('ledger.exists', { path: realPath })
    }
    await refuseUnmarkedData(realPath)
    if (options.cleans === true) await removeUnfinished(realPath, stores)
    const marker = await buildFirst(realPath, options)
    return new OpenLocation(realPath, { marker, stores, release })
  } catch (error) {
    release()
    // Something else may be in it by now; then it stays.
    if (made !== undefined) await rmdir(realPath).catch(() => undefined)
    throw error
  }
}

async function buildFirst(
  realPath: string,
  options: Parameters<typeof initLocation>[1]
): Promise<Marker> {
  const marker = await buildData(realPath, async (path, live) => {
    const letGo = await options.build(path)
    try {
      await syncDirectory(path)
      const marker = newMarker(live, options)
      await createFile(join(realPath, MARKER_FILE), encodeMarker(marker))
      return marker
    } catch (error) {
      if (errorNumber(error) !== 'EEXIST') throw error
      throw ledgerError('ledger.exists', { path: realPath }, { cause: error })
    } finally {
      await letGo?.()
    }
  })
  await finishData(realPath, marker.live)
  return marker
}

/**
 * Claims an existing location.
 * Throws `ledger.not_found`, `ledger.marker_missing`, `ledger.locked` (open in this process),
 * `ledger.malformed_marker`, `ledger.newer_version`.
 */
export async function openLocation(
  directory: string,
  {
    stores = levelStores,
    readOnly = false
  }: {
    readonly stores?: Stores
    /** Leaves what an interrupted init or import has left. */
    readonly readOnly?: boolean
  } = {}
): Promise<Location> {
  const realPath = await realPathOf(directory)
  const release = claimLocation(realPath)
  try {
    const marker = await readMarker(realPath)
    if (!readOnly) await finishData(realPath, marker.live)
    return new OpenLocation(realPath, { marker, stores, release })
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

/**
 * Data directories that were begun at a location and not finished, by an import or an init that is
 * under way or was interrupted. The location need not have a ledger yet.
 */
export async function unfinishedData(directory: string): Promise<readonly string[]> {
  const found = await inspectLocation(directory)
  if (found !== undefined) return unfinished(found.realPath, found.marker.live)
  try {
    return await unfinished(await realPathOf(directory))
  } catch (error) {
    if (error instanceof TallyError && error.code === 'ledger.not_found') return []
    throw error
  }
}

class OpenLocation implements Location {
  readonly realPath: string
  readonly stores: Stores
  readonly release: () => void
  #marker: Marker
  /** Of the marker, once it was changed. */
  #text: string | undefined
  #turn: Promise<void> = Promise.resolve()

  constructor(
    realPath: string,
    parts: { readonly marker: Marker; readonly stores: Stores; readonly release: () => void }
  ) {
    this.realPath = realPath
    this.stores = parts.stores
    this.#marker = parts.marker
    this.release = parts.release
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
    options: {
      readonly identities?: readonly IdentityId[]
      readonly followers?: readonly IdentityId[]
    } = {}
  ): Promise<void> {
    const path = join(this.realPath, name)
    if (!isDataDirectory(name) || !(await dataDirectories(this.realPath)).includes(name)) {
      throw ledgerError('ledger.not_found', { path })
    }
    await syncDirectory(path)
    await this.#change((marker) => newMarker(name, { ...marker, ...options }))
  }

  async replaceLive(
    follower: IdentityId,
    build: (dataPath: string) => Promise<boolean>
  ): Promise<void> {
    const { realPath } = this
    await removeUnfinished(realPath, this.stores, this.#marker.live)
    const built = await buildData(realPath, async (path, name) => ({
      name,
      takesPlace: await build(path)
    }))
    if (!built.takesPlace) return discardData(realPath, built.name)
    const { followers = [] } = this.#marker
    await this.switchLive(built.name, { followers: [...followers, follower] })
    // Where this fails, the next opening of the location does it: the marker stands.
    await finishData(realPath, built.name).catch(() => undefined)
  }

  async keepsData(): Promise<boolean> {
    return (await dataDirectories(this.realPath)).length > 1
  }

  addIdentities(added: readonly IdentityId[]): Promise<void> {
    return this.#change((marker) => {
      const identities = [...marker.identities, ...added]
      return newMarker(marker.live, { ...marker, identities, main: mainIdentity(marker) })
    })
  }

  endFollowing(identity: IdentityId): Promise<void> {
    return this.#change((marker) => {
      const followers = marker.followers?.filter((one) => one !== identity)
      return newMarker(marker.live, { ...marker, followers })
    })
  }

  /** One change after the other: each begins with what the one before has made. */
  #change(change: (marker: Marker) => Marker): Promise<void> {
    const changed = this.#turn.then(async () => {
      const marker = change(this.#marker)
      const text = encodeMarker(marker)
      this.#text ??= encodeMarker(this.#marker)
      if (text === this.#text) return
      await replaceFile(join(this.realPath, MARKER_FILE), text)
      this.#marker = marker
      this.#text = text
    })
    this.#turn = changed.catch(() => undefined)
    return changed
  }
}

async function readMarker(realPath: string): Promise<Marker> {
  const path = join(realPath, MARKER_FILE)
  const text = await readIfPresent(path)
  if (text !== undefined) return parseMarker(text, path)
  await refuseUnmarkedData(realPath)
  throw ledgerError('ledger.not_found', { path: realPath })
}

async function realPathOf(directory: string): Promise<string> {
  try {
    return await realpath(directory)
  } catch (error) {
    if (errorNumber(error) === 'ENOENT' || errorNumber(error) === 'ENOTDIR') {
      throw ledgerError('ledger.not_found', { path: directory })
    }
    throw error
  }
}
