import {
  type Hash,
  isHash,
  isTallyError,
  type Json,
  ledgerError,
  sha256Hex
} from '../../core/index.js'
import type { StoreKeys } from '../keys.js'
import { LogFrontier } from '../log/index.js'
import type { Store } from '../stores/port.js'
import type { DerivedCodes } from './codes.js'
import { type Digest, digestText } from './digest.js'
import type { IndexRun } from './index-runs.js'
import { codedForm, type RecordForm, uncheckedForm } from './record-form.js'

/** What the derived records cover, and what is needed to continue from there. */
export interface Watermark {
  /** Commit records covered: the next one to derive from. */
  readonly seq: number
  readonly receipts: number
  /** Last receipt covered. */
  readonly receiptHash: Hash | null
  readonly frontier: LogFrontier
  readonly index: readonly IndexRun[]
  /** Of the index of runs whose records were set aside, since their history is archived. */
  readonly archivedRuns: readonly IndexRun[]
  /** Commit records that the state pages cover, and the storage root that they give. */
  readonly pages: { readonly seq: number; readonly storageRoot: Hash }
  /** Code of the derived records as a set; null where nothing is derived. */
  readonly digest: Hash | null
}

const WATERMARK_VERSION = 3
/** One that names archived runs: who does not know them would take their ids again. */
const ARCHIVED_VERSION = 4
/** Those of 0.1.0 had sums of checksums, or nothing, where a code is now. */
const versions: ReadonlySet<Json> = new Set([1, 2, WATERMARK_VERSION, ARCHIVED_VERSION])

export const firstWatermark: Watermark = {
  seq: 0,
  receipts: 0,
  receiptHash: null,
  frontier: LogFrontier.empty,
  index: [],
  archivedRuns: [],
  pages: { seq: 0, storageRoot: sha256Hex('') },
  digest: null
}

export function watermarkPut(
  keys: StoreKeys,
  watermark: Watermark,
  form: RecordForm
): readonly [string, Uint8Array] {
  const { frontier, archivedRuns, ...rest } = watermark
  const names = archivedRuns.length > 0
  const text = JSON.stringify({
    ...rest,
    ...(names ? { archivedRuns } : {}),
    frontier: Buffer.from(frontier.encode()).toString('hex'),
    logSize: frontier.size,
    version: names ? ARCHIVED_VERSION : WATERMARK_VERSION
  })
  return [keys.derived, form.wrap(keys.derived, text, watermark.seq)]
}

/** The code of a digest, as a watermark has it. */
export function digestCode(codes: DerivedCodes, digest: Digest): Hash {
  return codes.authenticate(digestText(digest))
}

/**
 * The watermark of the store; {@link firstWatermark} when nothing was derived yet, and when its
 * code is not right or it is of 0.1.0: then all is made again.
 */
export function readWatermark(store: Store, keys: StoreKeys, codes: DerivedCodes): Watermark {
  try {
    return watermarkIn(store, keys, codedForm(codes))
  } catch (error) {
    if (isTallyError(error, 'ledger.corrupt')) return firstWatermark
    throw error
  }
}

/** The same for a verification without the key. Throws `ledger.corrupt`. */
export function readUncheckedWatermark(store: Store, keys: StoreKeys): Watermark {
  return watermarkIn(store, keys, uncheckedForm)
}

function watermarkIn(store: Store, keys: StoreKeys, form: RecordForm): Watermark {
  const value = store.get(keys.derived)
  if (value === undefined) return firstWatermark
  const stored = JSON.parse(form.body(keys.derived, value).toString()) as {
    readonly seq: number
    readonly receipts: number
    readonly receiptHash: Hash | null
    readonly frontier: string
    readonly logSize: number
    readonly index: readonly IndexRun[]
    readonly archivedRuns?: readonly IndexRun[]
    readonly pages: Watermark['pages']
    readonly digest: Json
    readonly version: Json
  }
  const frontier = LogFrontier.decode(stored.logSize, Buffer.from(stored.frontier, 'hex'))
  if (!versions.has(stored.version) || frontier === undefined) {
    throw ledgerError('ledger.corrupt', {
      key: keys.derived,
      problem: 'the watermark of the derived records is malformed'
    })
  }
  const { seq, receipts, receiptHash, index, pages, archivedRuns = [] } = stored
  const digest = isHash(stored.digest) ? stored.digest : null
  return { seq, receipts, receiptHash, frontier, index, archivedRuns, pages, digest }
}
