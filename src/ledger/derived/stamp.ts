import { type Hash, type Json, sha256Hex, TallyError } from '../../core/index.js'
import { unwrapText, wrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { LogFrontier } from '../log/index.js'
import type { Store } from '../stores/port.js'
import type { IndexRun } from './index-runs.js'

/** What the derived records cover, and what is needed to go on from there. */
export interface Stamp {
  /** Commit records covered: the next one to derive from. */
  readonly seq: number
  readonly receipts: number
  /** Last receipt covered. */
  readonly receiptHash: Hash | null
  readonly frontier: LogFrontier
  readonly index: readonly IndexRun[]
  /** Commit records that the state pages cover, and the storage root that they give. */
  readonly pages: { readonly seq: number; readonly storageRoot: Hash }
}

export const firstStamp: Stamp = {
  seq: 0,
  receipts: 0,
  receiptHash: null,
  frontier: LogFrontier.empty,
  index: [],
  pages: { seq: 0, storageRoot: sha256Hex('') }
}

export function stampPut(keys: StoreKeys, stamp: Stamp): readonly [string, Uint8Array] {
  const { frontier, ...rest } = stamp
  const text = JSON.stringify({
    ...rest,
    frontier: Buffer.from(frontier.encode()).toString('hex'),
    logSize: frontier.size,
    version: 1
  })
  return [keys.derived, wrapValue(keys.derived, text)]
}

/** The stamp of the store; {@link firstStamp} when nothing was derived yet. */
export function readStamp(store: Store, keys: StoreKeys): Stamp {
  const value = store.get(keys.derived)
  if (value === undefined) return firstStamp
  const stored = JSON.parse(unwrapText(keys.derived, value)) as {
    readonly seq: number
    readonly receipts: number
    readonly receiptHash: Hash | null
    readonly frontier: string
    readonly logSize: number
    readonly index: readonly IndexRun[]
    readonly pages: Stamp['pages']
    readonly version: Json
  }
  const frontier = LogFrontier.decode(stored.logSize, Buffer.from(stored.frontier, 'hex'))
  if (stored.version !== 1 || frontier === undefined) {
    throw new TallyError('ledger.corrupt', {
      key: keys.derived,
      problem: 'the stamp of the derived records is malformed'
    })
  }
  const { seq, receipts, receiptHash, index, pages } = stored
  return { seq, receipts, receiptHash, frontier, index, pages }
}
