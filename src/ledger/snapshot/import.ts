import { type Hash, type IdentityId, type RunId, TallyError } from '../../core/index.js'
import { initLocation, inspectLocation } from '../location/index.js'
import { holdStore } from '../owner/held-store.js'
import { openLevelStore } from '../stores/level.js'
import type { Store } from '../stores/port.js'
import type { GivenNote, VerificationReport } from '../verify/report.js'
import { type BuiltSnapshot, buildFromSnapshot } from './build.js'
import { SnapshotReader } from './read.js'

export interface ImportOptions {
  readonly file: string
  /**
   * Notes from outside, as for a verification (P5); one that does not hold refuses the snapshot.
   */
  readonly notes?: readonly GivenNote[]
}

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

/**
 * Imports a snapshot at a location (P3): builds a new data directory beside the old one, verifies
 * all of it, and then makes it the live one (L9), with its identity as a follower. Whatever fails
 * or dies before leaves what was there; what it left half-made, the next import removes.
 *
 * A ledger that is there must be of the same identity, and its commits must be the first ones of
 * the snapshot; one that is damaged may not have more of them.
 * Throws `snapshot.*`, `ledger.locked`, and the codes of opening a location.
 */
export async function importSnapshot(
  location: string,
  { file, notes = [] }: ImportOptions
): Promise<LocationImport> {
  const snapshot = await SnapshotReader.open(file)
  const { identity, head } = snapshot.header
  const { receipts, headRoot } = head
  const told = ({ openRuns, report }: BuiltSnapshot) => {
    return { identity, receipts, headRoot, openRuns, report }
  }
  try {
    const found = await inspectLocation(location)
    if (found === undefined) {
      const { built, live } = await create(location, { snapshot, notes })
      return { outcome: 'created', ...told(built), live, kept: null }
    }
    const { before, live, built } = await replace(location, { snapshot, notes })
    const outcome = live === before ? 'unchanged' : 'replaced'
    return { outcome, ...told(built), live, kept: live === before ? null : before }
  } finally {
    snapshot.close()
  }
}

interface Importing {
  readonly snapshot: SnapshotReader
  readonly notes: readonly GivenNote[]
}

async function create(
  directory: string,
  { snapshot, notes }: Importing
): Promise<{ readonly live: string; readonly built: BuiltSnapshot }> {
  const built: BuiltSnapshot[] = []
  const identities = [snapshot.header.identity]
  const location = await initLocation(directory, {
    identities,
    followers: identities,
    cleans: true,
    build: async (path) => {
      const target = await openLevelStore({ path, create: true })
      const letGo = () => target.close()
      try {
        built.push(await buildFromSnapshot({ snapshot, target, existing: undefined, notes }))
      } catch (error) {
        await letGo()
        throw error
      }
      return letGo
    }
  })
  location.release()
  return { live: location.marker.live, built: only(built) }
}

async function replace(
  directory: string,
  { snapshot, notes }: Importing
): Promise<{ readonly before: string; readonly live: string; readonly built: BuiltSnapshot }> {
  const held = await holdStore(directory)
  const { location, store: existing } = held
  try {
    refuseOthers(location.marker.identities, snapshot.header.identity, location.realPath)
    const before = location.marker.live
    const built: BuiltSnapshot[] = []
    await location.replaceLive((path) =>
      within(path, async (target) => {
        built.push(await buildFromSnapshot({ snapshot, target, existing, notes }))
        return only(built).relation === 'extends'
      })
    )
    return { before, live: location.marker.live, built: only(built) }
  } finally {
    await held.close()
  }
}

async function within<Result>(
  path: string,
  work: (store: Store) => Promise<Result>
): Promise<Result> {
  const store = await openLevelStore({ path, create: true })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

function refuseOthers(identities: readonly IdentityId[], actual: IdentityId, path: string): void {
  const other = identities.find((identity) => identity !== actual)
  if (other === undefined) return
  throw new TallyError('snapshot.other_identity', { path, expected: other, actual })
}

function only<Value>(values: readonly Value[]): Value {
  const [value] = values
  if (value === undefined) throw new TallyError('core.internal', { problem: 'nothing was built' })
  return value
}
