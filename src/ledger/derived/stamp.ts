import { type Hash, type Json, sha256Hex, TallyError } from '../../core/index.js'
import { unwrapText, wrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { LogFrontier } from '../log/index.js'
import type { Store } from '../stores/port.js'
import { type Digest, emptyDigest } from './digest.js'
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
  /** The derived records themselves. */
  readonly digest: Digest
}

const STAMP_VERSION = 2

export const firstStamp: Stamp = {
  seq: 0,
  receipts: 0,
  receiptHash: null,
  frontier: LogFrontier.empty,
  index: [],
  pages: { seq: 0, storageRoot: sha256Hex('') },
  digest: emptyDigest
}

export function stampPut(keys: StoreKeys, stamp: Stamp): readonly [string, Uint8Array] {
  const { frontier, ...rest } = stamp
  const text = JSON.stringify({
    ...rest,
    frontier: Buffer.from(frontier.encode()).toString('hex'),
    logSize: frontier.size,
    version: STAMP_VERSION
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
    readonly digest: Digest
    readonly version: Json
  }
  // Without a digest nothing tells whether the records are whole: they are made again.
  if (stored.version === 1) return firstStamp
  const frontier = LogFrontier.decode(stored.logSize, Buffer.from(stored.frontier, 'hex'))
  if (stored.version !== STAMP_VERSION || frontier === undefined) {
    throw new TallyError('ledger.corrupt', {
      key: keys.derived,
      problem: 'the stamp of the derived records is malformed'
    })
  }
  const { seq, receipts, receiptHash, index, pages, digest } = stored
  return { seq, receipts, receiptHash, frontier, index, pages, digest }
}
