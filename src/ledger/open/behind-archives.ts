import type { ArchivedHistory } from '../archive/history.js'
import { codesOf } from '../derived/codes.js'
import { Derived } from '../derived/derived.js'
import { codedForm, uncheckedForm } from '../derived/record-form.js'
import type { Watermark } from '../derived/watermark.js'
import { unwrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { TILE_WIDTH } from '../log/index.js'
import { parseRecord } from '../record/record.js'
import type { StateTree } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { ArchivedCommits } from '../verify/archived-commits.js'
import { InMemoryDerived } from './in-memory-derived.js'
import { Rebuild } from './rebuild.js'
import type { StartingPoint } from './start.js'
import { storedTree } from './tree.js'

const HASH_BYTES = 32

/**
 * Where an opening without the key begins when history was archived: at the boundary, with the
 * state as it is, which the last receipt signs. Derived records are made in memory of what is left;
 * of the log, what it continues from was read unchecked and must give the root of the head.
 */
export async function behindArchives(options: {
  readonly store: Store
  readonly keys: StoreKeys
  readonly archived: ArchivedHistory
}): Promise<StartingPoint> {
  const { store, keys, archived } = options
  const { boundary } = archived
  const tree = await storedTree(store, keys)
  const watermark: Watermark = {
    seq: boundary.commits,
    receipts: boundary.receipts,
    receiptHash: boundary.receiptHash,
    frontier: boundary.frontier,
    index: [],
    archivedRuns: [],
    pages: { seq: boundary.commits, storageRoot: tree.root() },
    digest: null
  }
  const inMemory = new InMemoryDerived(store, keys)
  await copyTiles({ store, target: inMemory, keys, leaves: boundary.frontier.size })
  const derived = new Derived({
    store: inMemory,
    keys,
    codes: codesOf(undefined),
    watermark,
    pagedTree: tree
  })
  // The tree has all write sets already.
  const rebuild = new Rebuild({ derived, tree, pagesSeq: Number.MAX_SAFE_INTEGER })
  await absorbKept({ store, keys, archived, derived, tree })
  return { watermark, derived, rebuild, writes: true, archived }
}

/**
 * Commit records that stayed, for the runs which need them; their receipts are found in no list.
 */
async function absorbKept(of: {
  readonly store: Store
  readonly keys: StoreKeys
  readonly archived: ArchivedHistory
  readonly derived: Derived
  readonly tree: StateTree
}): Promise<void> {
  const { store, keys, archived, derived, tree } = of
  const { boundary } = archived
  const kept = new ArchivedCommits(store, keys, boundary)
  for await (const [key, value] of store.entries(keys.commits(0, boundary.commits))) {
    const { header, items } = parseRecord(key, unwrapValue(key, value))
    const { frontier } = boundary
    derived.absorb({
      ...{ seq: header.seq, receipts: [], leaves: [], frontier, tree, changedKeys: 0 },
      items: items
        .filter(({ runId }) => kept.goesOn(runId))
        .map(({ runId, entries }) => ({ runId, entries, runChanges: undefined }))
    })
  }
}

/** The tile of each level that grows next. */
async function copyTiles(options: {
  readonly store: Store
  readonly target: Store
  readonly keys: StoreKeys
  readonly leaves: number
}): Promise<void> {
  const { store, target, keys } = options
  const form = codedForm(codesOf(undefined))
  const puts: (readonly [string, Uint8Array])[] = []
  let count = options.leaves
  for (let level = 0; count > 0; level += 1) {
    const width = count % TILE_WIDTH
    const key = keys.tile(`${level}/${Math.floor(count / TILE_WIDTH)}`)
    const value = width === 0 ? undefined : store.get(key)
    if (value !== undefined) {
      const bytes = uncheckedForm.body(key, value).subarray(0, width * HASH_BYTES)
      puts.push([key, form.wrap(key, bytes, 0)])
    }
    count = Math.floor(count / TILE_WIDTH)
  }
  if (puts.length > 0) await target.commit([{ puts, deletes: [] }])
}
