import { Derived } from '../derived/derived.js'
import { sameDigest, storedDigest } from '../derived/digest.js'
import { firstStamp, readStamp, type Stamp } from '../derived/stamp.js'
import type { StoreKeys } from '../keys.js'
import { StateTree } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { removeDerived } from './derived-records.js'
import { InMemoryDerived } from './in-memory-derived.js'
import { Rebuild } from './rebuild.js'
import { readPagedTree } from './tree.js'

export interface StartingPoint {
  readonly stamp: Stamp
  readonly derived: Derived
  readonly rebuild: Rebuild
  /** Whether derived records may be written while the chain is read. */
  readonly writes: boolean
}

/**
 * Where opening goes on from: the derived records of the store, if they are what their stamp says
 * (L4). One that is lost would let a unit be done twice (L6), so otherwise all are removed and made
 * again from the commit records; a reader makes them in memory and leaves the store alone.
 */
export async function startingPoint(options: {
  readonly store: Store
  readonly keys: StoreKeys
  readonly readOnly: boolean
}): Promise<StartingPoint> {
  const { store, keys, readOnly } = options
  const found = readStamp(store, keys)
  const paged = await readPagedTree(store, keys, found.pages.storageRoot)
  const isWhole = paged !== undefined && sameDigest(found.digest, await storedDigest(store, keys))
  const stamp = isWhole ? found : firstStamp
  const tree = isWhole ? paged : StateTree.empty
  const derivedStore = isWhole || !readOnly ? store : new InMemoryDerived(store, keys)
  if (!isWhole && !readOnly) await removeDerived(store, keys)
  const derived = new Derived({ store: derivedStore, keys, stamp, pagedTree: tree })
  const rebuild = new Rebuild({ derived, tree, pagesSeq: stamp.pages.seq })
  return { stamp, derived, rebuild, writes: !readOnly || !isWhole }
}
