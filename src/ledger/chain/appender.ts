import { canonicalize, type IdentityId, isRunId, type PublicKey } from '../../core/index.js'
import type { QueuedItem } from '../commit/queued-item.js'
import { SignedRecord, type SigningQueue } from '../commit/signing.js'
import type { CurrentState } from '../current/current-state.js'
import type { EvidenceDraft, JournalItem, Position, UnitDraft } from '../item.js'
import { ReceiptAssembler } from '../receipt/assemble.js'
import type { BlobSalts } from '../receipt/blob.js'
import { assembleEvidence } from '../receipt/evidence.js'
import { advance, type ChainHead, nextState, ROTATION_ACTION } from './chain-head.js'
import { invalid, unitChanges } from './changes.js'

/** An item ready for the queue, with the bytes of its texts in UTF-8. */
export interface PreparedItem {
  readonly item: QueuedItem
  readonly bytes: number
}

/**
 * Turns items of the journal into queued items, synchronously.
 *
 * Owns: the chain head that the next receipt builds on. Does not own: checks of reads (L10), the
 * queue, or when signatures are made.
 *
 * Invariants: each receipt links to the one before it, and its roots follow from the chain head; a
 * failed call leaves chain head, state and signing queue as they were.
 */
export class Appender {
  readonly #identity: IdentityId
  readonly #state: CurrentState
  readonly #signing: SigningQueue
  readonly #assembler: ReceiptAssembler
  #chainHead: ChainHead

  constructor(options: {
    readonly identity: IdentityId
    readonly chainHead: ChainHead
    readonly state: CurrentState
    readonly signing: SigningQueue
    readonly salts: BlobSalts
  }) {
    this.#identity = options.identity
    this.#chainHead = options.chainHead
    this.#state = options.state
    this.#signing = options.signing
    this.#assembler = new ReceiptAssembler(options.salts)
  }

  get chainHead(): ChainHead {
    return this.#chainHead
  }

  /**
   * The queued form of an item, whose place will be `position`. `newKey` is the key that a rotation
   * hands over to. Throws `ledger.invalid_item`.
   */
  prepare(
    { runId, entries, runChanges, mac, unit, evidence }: JournalItem,
    position: Position,
    newKey: PublicKey | undefined
  ): PreparedItem {
    if (!isRunId(runId)) throw invalid('its run id is malformed')
    // What can still be refused is, before the unit moves the chain head.
    if (evidence !== undefined) canonicalize(evidence.details)
    const done = unit === undefined ? undefined : this.#unit(unit, position, newKey)
    const signed = evidence === undefined ? undefined : this.#evidence(evidence)
    let bytes = (done?.bytes ?? 0) + (signed?.bytes ?? 0)
    for (const entry of entries) bytes += Buffer.byteLength(entry)
    const item: QueuedItem = {
      runId,
      entries,
      blobs: [...(done?.blobs ?? []), ...(signed?.blobs ?? [])],
      changes: done?.changes ?? [],
      chainHead: this.#chainHead,
      ...(runChanges === undefined ? {} : { runChanges }),
      ...(mac === undefined ? {} : { mac }),
      ...(done === undefined ? {} : { receipt: done.receipt }),
      ...(signed === undefined ? {} : { evidence: signed.record })
    }
    return { item, bytes }
  }

  #unit(unit: UnitDraft, position: Position, newKey: PublicKey | undefined) {
    if ((unit.action === ROTATION_ACTION) !== (newKey !== undefined)) {
      throw invalid('a key rotation is appended by rotate() only')
    }
    const { changes, writeSet, blobs } = unitChanges(unit.writes, (key) => this.#state.read(key))
    const next = nextState(this.#chainHead, changes, newKey)
    const assembled = this.#assembler.assemble(unit, {
      identity: this.#identity,
      publicKey: this.#chainHead.publicKey,
      previousReceiptHash: this.#chainHead.receiptHash,
      previousStateRoot: this.#chainHead.executionRoot,
      nextStateRoot: next.nextStateRoot
    })
    const record = new SignedRecord(assembled)
    this.#chainHead = advance(this.#chainHead, next, assembled.hash)
    this.#signing.add(record)
    for (const [key, text] of changes) this.#state.change(key, text, position)
    const result = assembled.result.text
    const kept = [...assembled.blobs, ...blobs]
    return {
      receipt: { record, unitId: unit.id, hash: assembled.hash, writeSet, result },
      blobs: kept,
      changes,
      bytes: bytesOf([assembled.before, writeSet, result]) + bytesOf(kept)
    }
  }

  #evidence(draft: EvidenceDraft) {
    const { publicKey, receipts, receiptHash } = this.#chainHead
    const assembled = assembleEvidence(draft, {
      identity: this.#identity,
      publicKey,
      head: { seq: receipts, receiptHash }
    })
    const record = new SignedRecord(assembled)
    this.#signing.add(record)
    const { blobs } = assembled
    return { record, blobs, bytes: Buffer.byteLength(assembled.before) + bytesOf(blobs) }
  }
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0)
}
