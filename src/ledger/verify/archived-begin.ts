import type { IdentityId, PublicKey } from '../../core/index.js'
import { keysAt } from '../archive/boundary.js'
import type { ArchivedHistory } from '../archive/history.js'
import { unwrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { LogFrontier } from '../log/index.js'
import { parseRecord, type RecordHeader, type RecordItem } from '../record/record.js'
import type { Store } from '../stores/port.js'
import { ArchivedCommits } from './archived-commits.js'
import { stateAt } from './archived-state.js'
import { different } from './receipt-check.js'
import type { HookVerdict } from './report.js'
import type { StateFold } from './state-fold.js'

/** What hears of archived history, as far as it is kept. */
export interface BehindArchives {
  readonly store: Store
  readonly keys: StoreKeys
  readonly identity: IdentityId
  /** The keys that were in force, the identity's first one first. */
  onKeys(publicKeys: readonly PublicKey[]): void
  /** Each leaf of the log, in order; gives the log with it. */
  onLeaf(leaf: Uint8Array): LogFrontier
  /** An item of a run that goes on, whose commit record stayed. */
  onItem(item: RecordItem, header: RecordHeader): void
  fail(problem: HookVerdict): never
}

/**
 * Checks what a ledger keeps of history that is archived, in order: keys, log, and commit records
 * that runs still need; then gives the state behind it.
 */
export async function beginBehind(
  { boundary }: ArchivedHistory,
  parts: BehindArchives
): Promise<{ readonly fold: StateFold; readonly keptCommits: number }> {
  const { store, keys, identity } = parts
  const require = (problem: HookVerdict | undefined) => problem && parts.fail(problem)
  const publicKeys = keysAt(identity, boundary.rotations)
  const publicKey = publicKeys?.at(-1)
  if (publicKeys === undefined || publicKey === undefined) {
    return parts.fail({ field: 'archived.rotations', signed: 'proved', computed: 'not proved' })
  }
  parts.onKeys(publicKeys)
  const archived = new ArchivedCommits(store, keys, boundary)
  let frontier = LogFrontier.empty
  for (const leaf of archived.leaves()) {
    if (leaf === undefined) {
      const signed = 'the hashes of the log'
      return parts.fail({ field: 'archived.leaf', signed, computed: 'absent' })
    }
    frontier = parts.onLeaf(leaf)
  }
  require(archived.frontierProblem(frontier))
  let keptCommits = 0
  for await (const [key, value] of store.entries(keys.commits(0, boundary.commits))) {
    const record = parseRecord(key, unwrapValue(key, value))
    require(different('commit.key', keys.commit(record.header.seq), key))
    require(archived.leafProblem(record))
    for (const item of record.items) {
      if (archived.goesOn(item.runId)) parts.onItem(item, record.header)
    }
    keptCommits += 1
  }
  const fold = await stateAt({ store, keys, identity, boundary, publicKey })
  return { fold, keptCommits }
}
