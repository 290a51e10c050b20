import {
  canonicalize,
  canonicalString,
  type IdentityId,
  isRunId,
  ledgerError,
  limits,
  type PublicKey,
  type RunId,
  type TallyError
} from '../../core/index.js'
import type { QueuedItem } from '../commit/queued-item.js'
import { SignedRecord, type SigningQueue } from '../commit/signing.js'
import type { CurrentState } from '../current/current-state.js'
import type { EvidenceDraft, JournalItem, Position, UnitDraft } from '../item.js'
import { ReceiptAssembler } from '../receipt/assemble.js'
import { type BlobSalts, type EmbeddedText, embed, refer } from '../receipt/blob.js'
import { assembleEvidence } from '../receipt/evidence.js'
import type { SubjectCipher } from '../subject/cipher.js'
import type { SubjectId } from '../subject/subject-keys.js'
import { advance, type ChainHead, nextState, ROTATION_ACTION } from './chain-head.js'

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
  readonly #salts: BlobSalts
  readonly #cipher: SubjectCipher
  #chainHead: ChainHead
  /** Of the last item: most are of the same run as the one before. */
  #lastRunId: RunId | undefined

  constructor(options: {
    readonly identity: IdentityId
    readonly chainHead: ChainHead
    readonly state: CurrentState
    readonly signing: SigningQueue
    readonly salts: BlobSalts
    readonly cipher: SubjectCipher
  }) {
    this.#identity = options.identity
    this.#chainHead = options.chainHead
    this.#state = options.state
    this.#signing = options.signing
    this.#salts = options.salts
    this.#cipher = options.cipher
    this.#assembler = new ReceiptAssembler(options.salts)
  }

  get chainHead(): ChainHead {
    return this.#chainHead
  }

  /**
   * The queued form of an item, whose place will be `position`. `newKey` is the key that a rotation
   * hands over to, `subject` the key under which it is written. Throws `ledger.invalid_item`,
   * `ledger.no_subject_key`.
   */
  prepare(
    { runId, entries, runChanges, journalHash, unit, evidence }: JournalItem,
    { position, newKey, subject }: ItemPlace
  ): PreparedItem {
    if (runId !== this.#lastRunId && !isRunId(runId)) throw invalid('its run id is malformed')
    this.#lastRunId = runId
    // What can still be refused is, before the unit moves the chain head.
    if (evidence !== undefined) canonicalize(evidence.details)
    const stored =
      subject === undefined
        ? { entries }
        : {
            entries: entries.map((text) => this.#cipher.encryptEntry(subject, runId, text)),
            plain: entries
          }
    const isPrivate = subject !== undefined
    const done = unit && this.#unit(isPrivate ? kept(unit) : unit, { position, newKey, isPrivate })
    const signed = evidence && this.#evidence(isPrivate ? keptEvidence(evidence) : evidence)
    let bytes = (done?.bytes ?? 0) + (signed?.bytes ?? 0)
    for (const entry of stored.entries) bytes += Buffer.byteLength(entry)
    const blobs = [...(done?.blobs ?? []), ...(signed?.blobs ?? [])]
    const encrypted =
      subject === undefined
        ? []
        : [...new Set(blobs)].map((blob) => this.#cipher.encryptBody(subject, runId, blob))
    const item: QueuedItem = {
      runId,
      ...stored,
      blobs: isPrivate ? [] : blobs,
      encrypted,
      changes: done?.changes ?? [],
      chainHead: this.#chainHead,
      runChanges,
      mac: journalHash === undefined ? undefined : this.#salts.authenticate(journalHash),
      receipt: done?.receipt,
      evidence: signed?.record
    }
    return { item, bytes }
  }

  #unit(
    unit: UnitDraft,
    { position, newKey, isPrivate }: Omit<ItemPlace, 'subject'> & { readonly isPrivate: boolean }
  ) {
    if ((unit.action === ROTATION_ACTION) !== (newKey !== undefined)) {
      throw invalid('a key rotation is appended by rotate() only')
    }
    const read = (key: string) => this.#state.read(key)
    const { changes, writeSet, blobs } = unitChanges(unit.writes, read, isPrivate)
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
    const head = { seq: receipts, receiptHash }
    const place = { identity: this.#identity, publicKey, head }
    const assembled = assembleEvidence(draft, place, this.#salts)
    const record = new SignedRecord(assembled)
    this.#signing.add(record)
    const { blobs } = assembled
    return { record, blobs, bytes: Buffer.byteLength(assembled.before) + bytesOf(blobs) }
  }
}

/** Where an item is to stand, and how. */
interface ItemPlace {
  readonly position: Position
  readonly newKey: PublicKey | undefined
  readonly subject: SubjectId | undefined
}

/** Of a run with a subject no record that is signed has a value, or the hash of one alone. */
function kept(unit: UnitDraft): UnitDraft {
  return { ...unit, payloadPrivate: true, resultPrivate: true }
}

function keptEvidence(evidence: EvidenceDraft): EvidenceDraft {
  return { ...evidence, isPrivate: true, areDetailsPrivate: true }
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0)
}

/** What a unit changes in effect, with its write set. */
interface UnitChanges {
  /** In ascending order of keys. */
  readonly changes: readonly (readonly [key: string, text: string | null])[]
  /** Canonical JSON of the write set (formats.md §3). */
  readonly writeSet: string
  /** Values that the write set names by hash. */
  readonly blobs: readonly string[]
}

const noChanges: UnitChanges = { changes: [], writeSet: '[]', blobs: [] }

/**
 * Orders a unit's writes by key (UTF-16 code units), drops those that change nothing, and builds
 * the write set. Throws `ledger.invalid_item` for keys that cannot be state. `isPrivate`: no value
 * stands in the write set, but those of the kernel's own keys, which roots are made of.
 */
function unitChanges(
  writes: ReadonlyMap<string, string | null>,
  read: (key: string) => string | undefined,
  isPrivate: boolean
): UnitChanges {
  if (writes.size === 0) return noChanges
  if (writes.size > limits.WRITE_SET_KEYS_MAX) throw invalid('it changes too many keys')
  const keys = [...writes.keys()]
  if (keys.length > 1) keys.sort()
  const changes: (readonly [string, string | null])[] = []
  const blobs: string[] = []
  let writeSet = '['
  for (const key of keys) {
    checkKey(key)
    const after = writes.get(key) ?? null
    const before = read(key)
    if (after === (before ?? null)) continue
    changes.push([key, after])
    if (writeSet.length > 1) writeSet += ','
    writeSet += '{'
    const embedded = isPrivate && !key.startsWith(KERNEL_PREFIX) ? refer : embedPlain
    if (after !== null) {
      const { text, blob } = embedded(after)
      if (blob !== undefined) blobs.push(blob)
      writeSet += `"after":${text},`
    }
    if (before !== undefined) {
      const { text, blob } = embedded(before)
      // The item that wrote it may have it in its write set, which names no body.
      if (isPrivate && blob !== undefined) blobs.push(blob)
      writeSet += `"before":${text},`
    }
    writeSet += `"key":${canonicalString(key)}}`
  }
  return { changes, writeSet: `${writeSet}]`, blobs }
}

/** Keys that the kernel alone writes. */
const KERNEL_PREFIX = 'system/'

const embedPlain = (text: string): EmbeddedText => embed(text, undefined)

function checkKey(key: string): void {
  if (key === '' || key.length > limits.STATE_KEY_LENGTH_MAX || key.includes('\0')) {
    throw invalid('a state key is empty, too long, or holds NUL')
  }
  if (key.startsWith('local/')) throw invalid('keys under "local/" are outside the state root')
}

function invalid(problem: string): TallyError {
  return ledgerError('ledger.invalid_item', { problem })
}
