import {
  bytesOver,
  coreError,
  elapsedMs,
  type Hash,
  type IdentityId,
  ledgerError,
  limits,
  sha256Hex
} from '../../core/index.js'
import { headAfter } from '../chain/chain-head.js'
import type { DerivableCommit } from '../derived/unflushed-records.js'
import { bodyBytes, wrapPieces, wrapValue } from '../envelope.js'
import type { Position } from '../item.js'
import type { StoreKeys } from '../keys.js'
import { type LogFrontier, leafHash } from '../log/index.js'
import { encodeHead, type Head } from '../record/head.js'
import { headerLine, itemLines } from '../record/record.js'
import type { Store } from '../stores/port.js'
import type { QueuedItem } from './queued-item.js'
import type { SigningQueue } from './signing.js'

/**
 * Writes batches of queued items as commits.
 *
 * Owns: the durable head, its exact bytes, and the log's frontier. Does not own: order and timing
 * (the queue does), or what the items say.
 *
 * Invariants:
 * - L1 One batch holds one commit record, the changed state entries and the head: at most 3 puts
 *   and one for each changed key, beside blobs too large for the record.
 * - L2 It applies only while the stored head is, byte for byte, the one this writer wrote last.
 */
export class CommitWriter {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #identity: IdentityId
  readonly #signing: SigningQueue
  #head: Head
  #headBytes: Uint8Array
  #frontier: LogFrontier

  constructor(options: {
    readonly store: Store
    readonly keys: StoreKeys
    readonly identity: IdentityId
    readonly signing: SigningQueue
    readonly head: Head
    readonly headBytes: Uint8Array
    readonly frontier: LogFrontier
  }) {
    this.#store = options.store
    this.#keys = options.keys
    this.#identity = options.identity
    this.#signing = options.signing
    this.#head = options.head
    this.#headBytes = options.headBytes
    this.#frontier = options.frontier
  }

  /** The durable head. */
  get head(): Head {
    return this.#head
  }

  /** The log's right edge after the last durable commit. */
  get frontier(): LogFrontier {
    return this.#frontier
  }

  /**
   * Signs, writes and syncs a batch up to a position; throws `ledger.fenced` when the head is not
   * ours any more.
   */
  async write(items: readonly QueuedItem[], position: Position): Promise<DerivableCommit> {
    const from = elapsedMs()
    const signing = this.#signing.finish()
    if (signing !== undefined) await signing
    const last = items.at(-1)
    if (last === undefined) throw coreError('core.internal', { problem: 'an empty batch' })
    const record = this.#record(items)
    const { epoch, seq } = this.#head
    const after = { chainHead: last.chainHead, frontier: record.frontier }
    const head = headAfter({ epoch, seq: seq + 1, ...after })
    const headBytes = wrapValue(this.#keys.head, encodeHead(head))
    const key = this.#keys.commit(seq)
    const value = wrapPieces(key, record.pieces)
    const { puts, deletes, changedKeys } = this.#changes(items)
    const [applied] = await this.#store.commit([
      {
        condition: { key: this.#keys.head, value: this.#headBytes },
        puts: [[key, value], [this.#keys.head, headBytes], ...puts, ...record.largeBlobs],
        deletes,
        bytesStay: true
      }
    ])
    if (applied !== true) throw ledgerError('ledger.fenced', { ledger: this.#identity })
    this.#head = head
    this.#headBytes = headBytes
    this.#frontier = record.frontier
    return {
      seq,
      items,
      receipts: record.receipts,
      leaves: record.leaves,
      frontier: record.frontier,
      tree: last.chainHead.tree,
      changedKeys,
      written: {
        position,
        units: record.receipts.length,
        bytes: bodyBytes(value),
        receipts: head.receipts,
        durationMs: elapsedMs() - from
      }
    }
  }

  #record(items: readonly QueuedItem[]): {
    readonly pieces: readonly string[]
    readonly frontier: LogFrontier
    readonly leaves: readonly Uint8Array[]
    readonly receipts: DerivableCommit['receipts']
    readonly largeBlobs: readonly (readonly [string, Uint8Array])[]
  } {
    const { epoch, receipts: receiptCount, seq } = this.#head
    const leaves: Uint8Array[] = []
    const receipts: { unitId: DerivableCommit['receipts'][number]['unitId']; receiptHash: Hash }[] =
      []
    const largeBlobs: (readonly [string, Uint8Array])[] = []
    const pieces = [headerLine({ epoch, leaves: this.#frontier.size, receipts: receiptCount, seq })]
    const logged = (signed: string): string => {
      leaves.push(leafHash(signed))
      return signed
    }
    for (const { runId, entries, mac, receipt, evidence, blobs, encrypted } of items) {
      const { inRecord, large } = splitBlobs(blobs)
      for (const { hash, blob } of large) {
        const key = this.#keys.blob(hash)
        largeBlobs.push([key, wrapValue(key, blob)])
      }
      if (receipt !== undefined) {
        receipts.push({ unitId: receipt.unitId, receiptHash: receipt.hash })
      }
      const lines = itemLines({
        runId,
        entries,
        blobs: inRecord,
        largeBlobs: large.map(({ hash }) => hash),
        encrypted,
        mac,
        receipt: receipt && {
          text: logged(receipt.record.text()),
          writeSet: receipt.writeSet,
          result: receipt.result
        },
        evidence: evidence && logged(evidence.text())
      })
      pieces.push(lines)
    }
    const frontier = this.#frontier.appendAll(leaves)
    return { pieces, frontier, leaves, receipts, largeBlobs }
  }

  /** The last change of each key of a batch. */
  #changes(items: readonly QueuedItem[]): {
    readonly puts: readonly (readonly [string, Uint8Array])[]
    readonly deletes: readonly string[]
    readonly changedKeys: number
  } {
    const changes = new Map<string, string | null>()
    for (const item of items) {
      for (const [key, text] of item.changes) changes.set(key, text)
    }
    const puts: (readonly [string, Uint8Array])[] = []
    const deletes: string[] = []
    for (const [key, text] of changes) {
      const storeKey = this.#keys.state(key)
      if (text === null) deletes.push(storeKey)
      else puts.push([storeKey, wrapValue(storeKey, text)])
    }
    return { puts, deletes, changedKeys: changes.size }
  }
}

interface SplitBlobs {
  readonly inRecord: readonly string[]
  readonly large: readonly { readonly hash: Hash; readonly blob: string }[]
}

const noBlobs: SplitBlobs = { inRecord: [], large: [] }

function splitBlobs(blobs: readonly string[]): SplitBlobs {
  if (blobs.length === 0) return noBlobs
  const isLarge = (blob: string) => bytesOver(blob, limits.BLOB_IN_RECORD_BYTES_MAX) !== undefined
  return {
    inRecord: blobs.filter((blob) => !isLarge(blob)),
    large: blobs.filter(isLarge).map((blob) => ({ hash: sha256Hex(blob), blob }))
  }
}
