import { limits, type RunId } from '../../core/index.js'
import { type ArchivedHistory, readHistory } from '../archive/history.js'
import { codesOf, type DerivedCodes } from '../derived/codes.js'
import { Derived } from '../derived/derived.js'
import { type Digest, storedDigest } from '../derived/digest.js'
import { codedForm, uncheckedForm } from '../derived/record-form.js'
import type { OpenPlaces } from '../derived/run-records.js'
import { decodePlaces, mayBeOpen, type StoredPlaces } from '../derived/run-value.js'
import { digestCode, firstWatermark, readWatermark, type Watermark } from '../derived/watermark.js'
import type { StoreKeys } from '../keys.js'
import { corrupt } from '../record/record.js'
import { StateTree } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { removeDerived } from './derived-records.js'
import { InMemoryDerived } from './in-memory-derived.js'
import { Rebuild } from './rebuild.js'
import type { StartingPoint } from './start.js'
import { readPagedTree, storedTree } from './tree.js'

/**
 * Where opening continues from: the derived records of the store, if they are what their watermark
 * says (L4). One that is lost would let a unit be done twice (L6), so otherwise all are removed and
 * made again from the commit records; a reader makes them in memory and leaves the store alone. So
 * does an opening without the key, which cannot tell a record from an invented one (L12).
 *
 * What archives have cannot be made again here: with the key such records have to be whole, and
 * without it they begin where the archives end.
 */
export async function startingPoint(options: {
  readonly store: Store
  readonly keys: StoreKeys
  readonly blobKey: Uint8Array | undefined
  readonly readOnly: boolean
}): Promise<StartingPoint> {
  const { store, keys, blobKey, readOnly } = options
  const codes = codesOf(blobKey)
  const form = blobKey === undefined ? uncheckedForm : codedForm(codes)
  const archived = readHistory(store, keys, form)
  const known = blobKey === undefined ? undefined : await knownRecords(store, keys, codes)
  if (archived !== undefined && (known?.watermark.seq ?? 0) < archived.boundary.commits) {
    if (blobKey === undefined) {
      const { behindArchives } = await import('./behind-archives.js')
      return behindArchives({ store, keys, archived })
    }
    const problem = 'what it says of archived runs cannot be made again without the archives'
    throw corrupt(keys.derived, problem)
  }
  const inMemory = known === undefined && (readOnly || blobKey === undefined)
  if (known === undefined && !inMemory) await removeDerived(store, keys)
  const watermark = known?.watermark ?? firstWatermark
  const tree = known?.tree ?? StateTree.empty
  const derived = new Derived({
    store: inMemory ? new InMemoryDerived(store, keys) : store,
    keys,
    codes,
    watermark,
    digest: known?.digest,
    openRuns: known?.openRuns,
    pagedTree: tree
  })
  const rebuild = await rebuildOf({ store, keys, derived, tree, archived })
  return { watermark, derived, rebuild, writes: !readOnly || inMemory, archived }
}

/**
 * The state is its pages and the write sets of the commits behind them. Where archives have some of
 * these, which an archiving before 2026-11-27 that was killed could leave so, it is its values,
 * which must give the root of the head.
 */
async function rebuildOf(of: {
  readonly store: Store
  readonly keys: StoreKeys
  readonly derived: Derived
  readonly tree: StateTree
  readonly archived: ArchivedHistory | undefined
}): Promise<Rebuild> {
  const { store, keys, derived, tree, archived } = of
  const pagesSeq = derived.watermark.pages.seq
  if (archived === undefined || pagesSeq >= archived.boundary.commits) {
    return new Rebuild({ derived, tree, pagesSeq })
  }
  const whole = await storedTree(store, keys)
  // Its pages are written with what is written next.
  derived.absorbState(whole, limits.DERIVE_PAGE_KEYS)
  return new Rebuild({ derived, tree: whole, pagesSeq: Number.MAX_SAFE_INTEGER })
}

/** The records of the store, if all have right codes and are those that the watermark says. */
async function knownRecords(
  store: Store,
  keys: StoreKeys,
  codes: DerivedCodes
): Promise<KnownRecords | undefined> {
  const watermark = readWatermark(store, keys, codes)
  if (watermark.digest === null) return undefined
  const { storageRoot } = watermark.pages
  const tree = await readPagedTree(store, keys, { storageRoot, form: codedForm(codes) })
  const openRuns = new Map<RunId, StoredPlaces>()
  const { gte, lt } = keys.runs()
  const digest = await storedDigest(store, keys, codes, (key, body) => {
    if (key < gte || key >= lt || !mayBeOpen(body)) return
    const runId = keys.runId(key)
    openRuns.set(runId, decodePlaces(key, runId, body))
  })
  if (tree === undefined || digest === undefined) return undefined
  const isKnown = digestCode(codes, digest) === watermark.digest
  return isKnown ? { watermark, tree, digest, openRuns } : undefined
}

interface KnownRecords {
  readonly watermark: Watermark
  readonly tree: StateTree
  readonly digest: Digest
  /** Runs that may be open. */
  readonly openRuns: OpenPlaces
}
