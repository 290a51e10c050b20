import {
  type Hash,
  type IdentityId,
  ledgerError,
  type PublicKey,
  type RunId,
  sha256Hex,
  type TallyError,
  type UnitId
} from '../core/index.js'
import type { Signer } from '../identity/index.js'
import type { Archiving } from './archive/archiving.js'
import { archivingOf } from './archive/archiving-of.js'
import { Appender } from './chain/appender.js'
import { type ChainHead, headRootOf } from './chain/chain-head.js'
import { CommitQueue, flushLimits } from './commit/queue.js'
import type { QueuedItem } from './commit/queued-item.js'
import { SigningQueue } from './commit/signing.js'
import { CommitWriter } from './commit/writer.js'
import { CurrentState } from './current/current-state.js'
import type { Derived } from './derived/derived.js'
import type { Appended, JournalItem, Position } from './item.js'
import type {
  JournalEntry,
  Ledger,
  LedgerState,
  LogRecord,
  RunRecord,
  SavedCheckpoint,
  StoredReceipt
} from './ledger-api.js'
import type { LedgerParts } from './ledger-parts.js'
import type { ReadHash } from './log/index.js'
import { signedNoteOf } from './log/ledger-note.js'
import { type Cause, causeOf, type LedgerMode, LedgerModes } from './mode.js'
import type { PastLedger } from './past/past-types.js'
import { Reader } from './read/reader.js'
import { RunReader, toldCommit } from './read/run-reader.js'
import { storedState } from './read/stored-state.js'
import { BlobSalts, saltedBlob } from './receipt/blob.js'
import { Restoring } from './restoring.js'
import { SubjectCipher } from './subject/cipher.js'
import { RunSubjects } from './subject/subjects.js'
import { VerificationKey } from './verify/key.js'

type Range = NonNullable<Parameters<Ledger['receipts']>[0]>

/**
 * One identity's ledger.
 *
 * Owns: the chain head of the next receipt and the order of appends. Does not own: flushing
 * (`commit/`), values of the state (`current/`), derived records (`derived/`), bytes (the store).
 *
 * Invariants:
 * - L1 Everything appended enters one queue, in order; nothing is written beside it but derived
 *   records, and those only for commits that are durable.
 * - L3 After a failed write every pending and later call fails with `ledger.poisoned`.
 * - L6, L10 A unit id gets one receipt, and only if what the unit read is still so.
 */
export class OpenLedger implements Ledger {
  readonly identity: IdentityId
  readonly hasKey: boolean
  readonly verificationKey: VerificationKey | undefined
  readonly restoring: Restoring
  readonly archiving: Archiving
  readonly subjects: RunSubjects
  readonly pictures: Ledger['pictures']
  readonly #opened: Pick<LedgerParts, 'store' | 'keys' | 'identity' | 'blobKey' | 'readOnly'>
  readonly #modes = new LedgerModes()
  readonly #openedWhole: boolean
  readonly #salts: BlobSalts
  readonly #appender: Appender
  readonly #signing: SigningQueue
  readonly #queue: CommitQueue<QueuedItem>
  readonly #writer: CommitWriter
  readonly #state: CurrentState
  readonly #derived: Derived
  readonly #reader: Reader
  readonly #runs: RunReader
  readonly #queuedUnits = new Set<UnitId>()
  #past: Promise<PastLedger> | undefined
  /** Execution chain head of the last durable commit: what notes speak about. */
  #durableHead: ChainHead
  #durablePosition: Position = 0

  constructor(parts: LedgerParts) {
    const { store, keys, identity, signer, head, headBytes, frontier, blobKey, derived } = parts
    this.identity = identity
    this.hasKey = parts.blobKey !== undefined
    const cipher = new SubjectCipher(identity, parts.subjects)
    this.verificationKey = parts.blobKey && new VerificationKey(parts.blobKey, cipher)
    this.#opened = { store, keys, identity, blobKey, readOnly: parts.readOnly }
    this.#salts = new BlobSalts(parts.blobKey ?? new Uint8Array(32))
    this.#signing = new SigningQueue(signer)
    const signing = this.#signing
    this.#writer = new CommitWriter({ store, keys, identity, signing, head, headBytes, frontier })
    this.#queue = new CommitQueue<QueuedItem>({
      write: (items, last) => this.#write(items, last),
      ...flushLimits,
      runOf: ({ runId }) => runId,
      onChange: (change) => this.#modes.flushes(change === 'flushing'),
      onFail: (error) => this.#poison(error)
    })
    this.restoring = new Restoring(this.#modes, this.#queue)
    this.#openedWhole = parts.unsafe === undefined
    const tree = () => this.#appender.chainHead.tree
    this.#state = new CurrentState(store, keys, this.#openedWhole ? tree : undefined)
    this.#appender = new Appender({
      ...{ identity, chainHead: parts.chainHead, state: this.#state },
      ...{ signing, salts: this.#salts, cipher }
    })
    this.subjects = new RunSubjects({
      ...{ blobKey, keys: parts.readOnly ? undefined : parts.subjects, cipher },
      read: (key) => this.read(key),
      startedOf: (runId) => this.#runs.stored(runId)?.started,
      onDestroyed: () => this.#reader.forget()
    })
    this.#derived = derived
    this.pictures = derived.ofRuns
    const durable = () => this.#durablePosition
    this.#runs = new RunReader({ keys, cipher, derived, queue: this.#queue, durable })
    const [commits, archived] = [() => this.#writer.head.seq, () => this.archiving.history]
    this.#reader = new Reader({ store, keys, cipher, derived, commits, archived })
    this.archiving = archivingOf(parts, this.#queue, {
      ...{ commits, signer: () => this.#signing.signer, past: () => this.past() },
      // It removes the commits that pages of the state would be made again from.
      settle: () => this.#settle({ pages: true }),
      behind: (write) => this.#behind(write)
    })
    this.#durableHead = parts.chainHead
    if (parts.unsafe !== undefined) this.enterSafeMode(parts.unsafe)
  }

  get mode(): LedgerMode {
    return this.#modes.mode
  }

  head(): Hash | null {
    return this.#appender.chainHead.receiptHash
  }

  read(key: string): string | undefined {
    return this.#guardRead(() => this.#state.read(key))
  }

  list(prefix: string): Promise<readonly string[]> {
    return this.#state.list(prefix)
  }

  append(item: JournalItem): Appended {
    return this.#append(item, undefined)
  }

  durable(position: Position): Promise<void> {
    return this.#queue.durable(position)
  }

  isDurable(position: Position): boolean {
    return this.#queue.isDurable(position)
  }

  backlog(): { readonly items: number; readonly bytes: number } {
    return this.#queue.backlog()
  }

  authenticate(hash: Hash): Hash {
    return this.#salts.authenticate(hash)
  }

  seal(...[unitId, seq, bodyText]: Parameters<Ledger['seal']>): ReturnType<Ledger['seal']> {
    const salt = this.#salts.salt(unitId, seq)
    return { salt, hash: sha256Hex(saltedBlob(bodyText, salt)) }
  }

  receipts({ from, to = this.#writer.head.receipts }: Range = {}): AsyncIterable<StoredReceipt> {
    const first = from ?? this.archiving.history?.boundary.receipts ?? 0
    return this.#reader.receipts(first, Math.min(to, this.#writer.head.receipts))
  }

  async receipt(which: Hash | number): Promise<StoredReceipt | undefined> {
    const unindexed = this.#openedWhole ? [] : this.receipts()
    return this.#reader.receipt(which) ?? this.#reader.receiptIn(unindexed, which)
  }

  async unit(unitId: UnitId): Promise<StoredReceipt | undefined> {
    return this.#reader.receiptOfUnit(unitId)
  }

  async hasUnit(unitId: UnitId): Promise<boolean> {
    return this.#queuedUnits.has(unitId) || this.#reader.hasUnit(unitId)
  }

  log({ from, to = this.#writer.head.logSize }: Range = {}): AsyncIterable<LogRecord> {
    const first = from ?? this.archiving.history?.boundary.frontier.size ?? 0
    return this.#reader.log(first, Math.min(to, this.#writer.head.logSize))
  }

  run(...given: Parameters<Ledger['run']>): RunRecord | undefined {
    return this.#guardRead(() => this.#runs.run(...given))
  }

  hasRun(runId: RunId): boolean {
    return this.#guardRead(() => this.#runs.has(runId))
  }

  runs(options: Parameters<Ledger['runs']>[0] = {}): AsyncGenerator<RunRecord> {
    return this.#runs.all(options)
  }

  openRuns(options: Parameters<Ledger['openRuns']>[0] = {}): Generator<RunRecord> {
    return this.#runs.open(options)
  }

  journal(...[runId, from, isWanted]: Parameters<Ledger['journal']>): AsyncIterable<JournalEntry> {
    return this.#reader.journal(runId, from, isWanted)
  }

  journalParts(runId: RunId, from?: number): AsyncIterable<readonly JournalEntry[]> {
    return this.#reader.journalParts(runId, from)
  }

  journals(runIds: Iterable<RunId>, texts: readonly string[]) {
    return this.#reader.journals(runIds, texts)
  }

  forgedJournal() {
    return this.#reader.forgedJournal((hash) => this.authenticate(hash))
  }

  past(): Promise<PastLedger> {
    this.#past ??= import('./past/past-ledger.js').then(({ openPast }) =>
      openPast({
        ...this.#opened,
        reader: this.#reader,
        logHashes: () => this.logHashes(),
        durable: () => ({ head: this.#writer.head, chainHead: this.#durableHead }),
        canWrite: !this.#opened.readOnly && this.mode === 'ready',
        behind: (write) => this.#behind(write)
      })
    )
    return this.#past
  }

  stateEntries(): AsyncIterable<readonly [key: string, text: string]> {
    return storedState(this.#opened.store, this.#opened.keys)
  }

  saveCheckpoint(runId: RunId, checkpoint: SavedCheckpoint | null, position: Position): void {
    // It has values in clear. Removing one asks for no subject, which reads the run's whole record.
    if (checkpoint !== null && this.subjects.of(runId) !== undefined) return
    this.#derived.ofRuns.saveCheckpoint(runId, checkpoint, position)
    this.#derive()
  }

  checkpoint(runId: RunId): SavedCheckpoint | undefined {
    return this.#guardRead(() => this.#derived.ofRuns.checkpoint(runId))
  }

  roots(): { readonly execution: Hash; readonly head: Hash; readonly storage: Hash } {
    const head = this.#appender.chainHead
    return { execution: head.executionRoot, head: headRootOf(head), storage: head.tree.root() }
  }

  async note(): Promise<string> {
    this.#modes.check()
    await this.#queue.durable(this.#queue.lastPosition)
    const [frontier, stateRoot] = [this.#writer.frontier, headRootOf(this.#durableHead)]
    return signedNoteOf(this.identity, this.#signing.signer, { frontier, stateRoot })
  }

  async rotate(options: {
    readonly signer: Signer
    readonly item: (payloadText: string) => JournalItem
  }): Promise<Appended> {
    const { rotateKey } = await import('./chain/rotating.js')
    const [head, append] = [() => this.head(), this.#append.bind(this)]
    const appended = await rotateKey({ ...options, identity: this.identity, head, append })
    if (appended.ok) this.#signing.use(options.signer)
    return appended
  }

  async logHashes(): Promise<{ readonly size: number; readonly readHash: ReadHash }> {
    await this.#settle({ pages: false })
    return this.#derived.hashReader()
  }

  async #settle(how: { readonly pages: boolean }): Promise<void> {
    await this.#queue.durable(this.#queue.lastPosition)
    await this.#writeDerived(how)
  }

  state(): LedgerState {
    const { mode, cause } = this.#modes
    const [{ receipts }, { epoch }] = [this.#appender.chainHead, this.#writer.head]
    return { mode, ...(cause && { cause }), identity: this.identity, receipts, epoch }
  }

  onMode(listener: (state: LedgerState) => void): () => void {
    return this.#modes.onMode(() => listener(this.state()))
  }

  onCommit(...[listener]: Parameters<Ledger['onCommit']>): () => void {
    return this.#derived.onAbsorbed((commit) => listener(toldCommit(commit)))
  }

  enterSafeMode(cause: Cause): void {
    this.#modes.send({ type: 'ledger.unsafe', cause })
  }

  leaveSafeMode(report: { readonly ok: boolean }): void {
    this.#modes.verified(report, { isFolded: this.#openedWhole })
  }

  async close(): Promise<void> {
    if (this.mode === 'closed') return
    try {
      if (this.mode === 'ready') await this.#settle({ pages: true })
    } finally {
      this.#modes.close()
      this.#queue.fail(this.#modes.refusal())
      await this.#signing.close()
    }
  }

  #append(item: JournalItem, newKey: PublicKey | undefined): Appended {
    this.#modes.check()
    if (this.#opened.readOnly) throw ledgerError('ledger.read_only', {})
    const { unit, rests = unit } = item
    if (rests !== undefined) {
      const conflict = this.#guardRead(() => this.#state.conflict(rests.reads, rests.lists))
      if (conflict !== undefined) return { ok: false, conflict }
    }
    const id = unit?.id
    if (id !== undefined && (this.#queuedUnits.has(id) || this.#derived.isUnflushed(id))) {
      throw ledgerError('ledger.unit_exists', { unitId: id })
    }
    const position = this.#queue.lastPosition + 1
    const subject = this.subjects.take(item)
    const prepared = this.#appender.prepare(item, { position, newKey, subject })
    this.#queue.push(prepared.item, prepared.bytes)
    const { receipt, chainHead } = prepared.item
    if (receipt === undefined) return { ok: true, position }
    this.#queuedUnits.add(receipt.unitId)
    return { ok: true, position, receiptHash: receipt.hash, nextStateRoot: chainHead.executionRoot }
  }

  async #write(items: readonly QueuedItem[], last: Position): Promise<void> {
    const commit = await this.#writer.write(items, last)
    this.#durablePosition = last
    for (const { changes, receipt, chainHead } of items) {
      for (const [key] of changes) this.#state.durable(key, last)
      if (receipt !== undefined) this.#queuedUnits.delete(receipt.unitId)
      this.#durableHead = chainHead
    }
    this.#derived.absorb(commit)
    this.#derive()
    if (this.#derived.isOverdue()) await this.#derived.settled()
  }

  #derive(): void {
    if (this.#opened.readOnly || !this.#derived.due()) return
    // A failure poisons the ledger; the next append throws it.
    this.#writeDerived({ pages: false }).catch(() => undefined)
  }

  async #writeDerived({ pages }: { readonly pages: boolean }): Promise<void> {
    if (this.#opened.readOnly) return
    await this.#behind(() => this.#derived.write({ durable: this.#durablePosition, pages }))
  }

  /** Writes what is not a commit; a failure of it poisons the ledger too (L3). */
  async #behind(write: () => Promise<unknown>): Promise<void> {
    try {
      await write()
    } catch (error) {
      throw this.storeFailed(error)
    }
  }

  storeFailed(error: unknown): TallyError {
    const poisoned = this.#poison(error)
    this.#queue.fail(poisoned)
    return poisoned
  }

  #poison(error: unknown): TallyError {
    this.#modes.send({ type: 'write.failed', cause: causeOf(error) })
    return ledgerError('ledger.poisoned', { problem: causeOf(error).message }, { cause: error })
  }

  /** A damaged value ends in safe mode, whichever read finds it (L4). */
  #guardRead<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (error) {
      this.enterSafeMode(causeOf(error))
      throw error
    }
  }
}
