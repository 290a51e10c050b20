import { coreError, type Hash, type IdentityId, ledgerError, type RunId } from '../../core/index.js'
import { StoreKeys } from '../keys.js'
import { initLocation, inspectLocation, type Location, mainIdentity } from '../location/index.js'
import { type HeldStore, holdStore } from '../owner/held-store.js'
import { openMemoryStore } from '../stores/memory.js'
import type { Store } from '../stores/port.js'
import { levelStores } from '../stores/stores.js'
import type { GivenNote, VerificationReport } from '../verify/report.js'
import { type BuiltSnapshot, buildFromSnapshot, type OnImportProgress } from './build.js'
import { SnapshotReader } from './read.js'

/** The snapshot that is imported, and what it has to agree with. */
export interface ImportOptions {
  readonly file: string
  /**
   * Notes from outside, as for a verification (P5); one that does not hold refuses the snapshot.
   */
  readonly notes?: readonly GivenNote[]
  /** Hears how far it is; what it throws ends the import. */
  readonly onProgress?: OnImportProgress | undefined
}

/** What an import has made of a location. */
export interface LocationImport {
  /** `unchanged`: the ledger that is there holds all of the snapshot already. */
  readonly outcome: 'created' | 'replaced' | 'unchanged'
  readonly identity: IdentityId
  /** Of the snapshot. */
  readonly receipts: number
  readonly headRoot: Hash
  readonly openRuns: readonly RunId[]
  readonly report: VerificationReport
  /** The live data directory, and the one that was live before, which is kept. */
  readonly live: string
  readonly kept: string | null
}

/** What `importSnapshot` does once it is loaded. */
export async function importIntoClosed(
  location: string,
  { file, notes = [], onProgress }: ImportOptions
): Promise<LocationImport> {
  const snapshot = await SnapshotReader.open(file)
  try {
    const found = await inspectLocation(location)
    if (found === undefined) return await create(location, { snapshot, notes, onProgress })
    const held = await holdStore(location)
    try {
      return importOf(snapshot, await replaceHeld(held, { snapshot, notes, onProgress }))
    } finally {
      await held.close()
    }
  } finally {
    snapshot.close()
  }
}

/** How a replacement went, in the words of {@link LocationImport}. */
export function importOf(
  { header }: SnapshotReader,
  done: { readonly before: string | null; readonly live: string; readonly built: BuiltSnapshot }
): LocationImport {
  const { before, live, built } = done
  const { identity, head } = header
  const isSame = live === before
  return {
    outcome: before === null ? 'created' : isSame ? 'unchanged' : 'replaced',
    identity,
    receipts: head.receipts,
    headRoot: head.headRoot,
    openRuns: built.openRuns,
    report: built.report,
    live,
    kept: isSame ? null : before
  }
}

interface Importing {
  readonly snapshot: SnapshotReader
  readonly notes: readonly GivenNote[]
  readonly onProgress?: OnImportProgress | undefined
}

async function create(directory: string, given: Importing): Promise<LocationImport> {
  const { snapshot } = given
  const built: BuiltSnapshot[] = []
  const identities = [snapshot.header.identity]
  const location = await initLocation(directory, {
    identities,
    followers: identities,
    cleans: true,
    build: async (path) => {
      const target = await levelStores.create(path)
      const letGo = () => target.close()
      try {
        built.push(await buildFromSnapshot({ ...given, target, existing: undefined }))
      } catch (error) {
        await letGo()
        throw error
      }
      return letGo
    }
  })
  location.release()
  return importOf(snapshot, { before: null, live: location.marker.live, built: only(built) })
}

/**
 * Puts a snapshot into the place of a ledger that the caller holds; gives the live data directory
 * from before and from now. `decides` is called when all is built, just before the marker changes.
 */
export async function replaceHeld(
  { location, store: existing }: Pick<HeldStore, 'location' | 'store'>,
  {
    snapshot,
    notes,
    onProgress,
    goOn,
    decides = () => Promise.resolve()
  }: Importing & {
    readonly goOn?: () => void
    readonly decides?: () => Promise<void>
  }
): Promise<{ readonly before: string; readonly live: string; readonly built: BuiltSnapshot }> {
  const { identity } = snapshot.header
  const keys = new StoreKeys(identity)
  refuseOther(location, identity)
  const before = location.marker.live
  const built: BuiltSnapshot[] = []
  await location.replaceLive(identity, async (path) =>
    within(await location.stores.create(path), async (target) => {
      const given = { snapshot, target, existing, notes, onProgress, goOn }
      built.push(await buildFromSnapshot(given))
      const { copyOthers } = await import('../other-identities.js')
      await copyOthers(existing, target, keys)
      await decides()
      return (await only(built).relation()) === 'extends'
    })
  )
  return { before, live: location.marker.live, built: only(built) }
}

async function within<Result>(
  store: Store,
  work: (store: Store) => Promise<Result>
): Promise<Result> {
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

function refuseOther({ marker, realPath: path }: Location, actual: IdentityId): void {
  const expected = mainIdentity(marker)
  if (expected === undefined || marker.identities.includes(actual)) return
  throw ledgerError('snapshot.other_identity', { path, expected, actual })
}

function only<Value>(values: readonly Value[]): Value {
  const [value] = values
  if (value === undefined) throw coreError('core.internal', { problem: 'nothing was built' })
  return value
}

/** What `openSnapshot` does once it is loaded. */
export async function storeOfSnapshot(
  path: string
): Promise<{ readonly store: Store; readonly identity: IdentityId }> {
  const snapshot = await SnapshotReader.open(path)
  try {
    const target = openMemoryStore()
    await buildFromSnapshot({ snapshot, target, existing: undefined, notes: [] })
    return { store: target, identity: snapshot.header.identity }
  } finally {
    snapshot.close()
  }
}
