import { canonicalize, type Hash, type IdentityId } from '../../core/index.js'
import { type ArchivedHistory, readHistory, signedHistory } from '../archive/history.js'
import { codedForm, uncheckedForm } from '../derived/record-form.js'
import { readUncheckedWatermark, type Watermark } from '../derived/watermark.js'
import { unwrapText, unwrapValue } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import { LogFrontier } from '../log/index.js'
import { parseEvidence } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import { type Head, parseHead } from '../record/head.js'
import { parseRecord, type RecordHeader, type RecordItem } from '../record/record.js'
import type { Store } from '../stores/port.js'
import type { ReadItem } from '../subject/cipher.js'
import type { SubjectKeys } from '../subject/subject-keys.js'
import { ClosedRuns } from './closed-runs.js'
import { CodeCheck } from './code-check.js'
import { DerivedCheck } from './derived-check.js'
import { checkHead, checkKept, checkStateEntries } from './end-checks.js'
import { findingOf, Stop } from './finding.js'
import { CheckedBodies } from './item-bodies.js'
import { JournalHashes, type JournalLines, signedJournal } from './journal-hashes.js'
import type { VerificationKey } from './key.js'
import { archivedPart, isBefore, notCheckedIn, notCheckedOfArchives } from './left-out.js'
import { NoteCheck, type NoteProblem } from './notes.js'
import { ChainMemory, checkReceipt, different, evidenceProblem } from './receipt-check.js'
import {
  earlier,
  type GivenNote,
  type HookVerdict,
  type ItemHook,
  type KeptPlace,
  type ReceiptHook,
  type VerificationFailure,
  type VerificationReport
} from './report.js'
import { RunCheck } from './run-check.js'
import { changedTexts, checkBodies, seenItem, seenReceipt, withheldOf } from './seen-receipt.js'
import { SignatureWindow } from './signature-window.js'
import { StateFold } from './state-fold.js'

export interface VerifyOptions {
  readonly store: Store
  readonly identity: IdentityId
  /** Notes from outside the ledger's own directory (P5). */
  readonly notes?: readonly GivenNote[]
  /** Where it stood when it was closed last; undefined where nothing says so. */
  readonly kept?: KeptPlace | undefined
  /** With it journals of open runs, and codes of derived records, are checked too (L12). */
  readonly key?: VerificationKey | undefined
  /** Opens what is under keys of subjects; else it is not checked. `key` may have them too. */
  readonly subjects?: SubjectKeys | undefined
  /** Sees the journal entries of each item, in order, before the item's receipt. */
  readonly onItem?: ItemHook
  /** Sees each receipt that passed, in order, before its signature is known to be good. */
  readonly onReceipt?: ReceiptHook
}

/**
 * Verifies a whole ledger without re-executing it (P1): every record of the chain, the log, the
 * journals, the state, the head, the derived records, and given notes. Never throws for bad data:
 * the report names the first thing that is wrong, and what was not checked.
 */
export async function verifyLedger(options: VerifyOptions): Promise<VerificationReport> {
  const verification = new Verification(options)
  return verification.run().finally(() => verification.signatures.close())
}

const headless = { field: 'head', signed: 'present', computed: 'absent' }
/** The action of the receipt that names an archive. */
const ARCHIVE_ACTION = 'system.archive'

/** One pass over a store. Owns everything that the fold needs; writes nothing. */
class Verification {
  readonly #options: VerifyOptions
  readonly #keys: StoreKeys
  #fold: StateFold
  #archived: ArchivedHistory | undefined
  /** Whether the receipt was met that names the last archive. */
  #isArchiveSigned = false
  /** Commit records before the boundary of archived history, which runs still need. */
  #keptCommits = 0
  readonly #memory = new ChainMemory()
  readonly #runs: RunCheck
  readonly #journals: JournalHashes
  readonly #closed: ClosedRuns
  readonly #notes: NoteCheck
  readonly signatures = new SignatureWindow<VerificationFailure>()
  #derived: DerivedCheck | undefined
  #codes: CodeCheck | undefined
  #watermark: Watermark | undefined
  /** Taken with the records, before others are written. */
  #headBytes: Uint8Array | undefined
  #head: Head | undefined
  #frontier = LogFrontier.empty
  #commits = 0
  #evidenceRecords = 0
  #stateEntries = 0
  #withheld = 0

  constructor(options: VerifyOptions) {
    this.#options = options
    this.#keys = new StoreKeys(options.identity)
    this.#fold = new StateFold(options.identity)
    this.#runs = new RunCheck(options.identity)
    this.#journals = new JournalHashes(options.key)
    this.#closed = new ClosedRuns(options.identity, options)
    this.#notes = new NoteCheck(options.identity, options.notes ?? [])
  }

  async run(): Promise<VerificationReport> {
    let failure = await this.#guarded(() => this.#chain())
    // Beside the last signatures.
    failure ??= await this.#guarded(() => this.#end())
    // A signature that was still being checked stands before whatever was found after it.
    failure = earlier(await this.signatures.finish(), failure)
    failure = earlier(this.#journals.forged, failure)
    return this.#report(failure)
  }

  /** Turns a damaged value into a finding at the place; what this machine lacks is no damage. */
  async #guarded(step: () => Promise<void>): Promise<VerificationFailure | undefined> {
    try {
      await step()
      return undefined
    } catch (error) {
      return findingOf(error, (problem) => this.#here(problem))
    }
  }

  async #chain(): Promise<void> {
    const { store } = this.#options
    this.#headBytes = store.get(this.#keys.head)
    this.#watermark = readUncheckedWatermark(store, this.#keys)
    const form =
      this.#options.key === undefined ? uncheckedForm : codedForm(this.#options.key.derived)
    this.#archived = readHistory(store, this.#keys, form)
    const boundary = this.#archived?.boundary
    const parts = { store, keys: this.#keys, watermark: this.#watermark, boundary }
    this.#derived = new DerivedCheck(parts)
    this.#codes = new CodeCheck({ ...parts, key: this.#options.key })
    this.#requireNote(this.#notes.at(this.#frontier, this.#fold.chainHead))
    if (this.#archived !== undefined) await this.#beginBehind(this.#archived)
    for await (const [key, value] of store.entries(this.#keys.commitsFrom(this.#commits))) {
      const { header, items } = parseRecord(key, unwrapValue(key, value))
      this.#header(key, header)
      let ordinal = 0
      for (const stored of items) {
        const item = this.#closed.open(key, stored)
        const bodies = new CheckedBodies(store, this.#keys, item)
        const index = this.#fold.chainHead.receipts
        const place = { index, commit: this.#commits }
        const lines = this.#journals.take(item, this.#journal(item, stored), place)
        if (this.#options.onItem !== undefined && item.closedBy === undefined)
          await this.#item(item)
        const { receipt, evidence: text } = item
        const resultText = receipt && bodies.resolve(receipt.result)
        if (receipt !== undefined) {
          const { seq: commitSeq } = header
          await this.#receipt(item, { bodies, resultText, lines, commitSeq, ordinal })
          ordinal += 1
        }
        const evidence = text === undefined ? undefined : await this.#evidence(text, bodies, lines)
        this.#require(lines.endProblem({ hasReceipt: receipt !== undefined, resultText, evidence }))
        const problem = bodies.problem()
        if (problem !== undefined) throw new Stop({ index, commit: this.#commits, ...problem })
        this.#withheld += bodies.withheld
        this.#journals.passed()
      }
      this.#commits += 1
      this.#require(this.#derived.endOfCommit(header.seq, this.#fold.chainHead, this.#frontier))
    }
  }

  /** Begins where archived history ends: with what is kept of it, and the state as it was then. */
  async #beginBehind(history: ArchivedHistory): Promise<void> {
    const { store, identity } = this.#options
    const { beginBehind } = await import('./archived-begin.js')
    const begun = await beginBehind(history, {
      ...{ store, keys: this.#keys, identity },
      onKeys: (publicKeys) => this.#notes.knowKeys(publicKeys),
      onLeaf: (leaf) => {
        this.#frontier = this.#frontier.append(leaf)
        this.#derived?.leaf(0, leaf)
        this.#requireNote(this.#notes.atLog(this.#frontier))
        return this.#frontier
      },
      onItem: (item, { seq: commit, receipts: index }) => {
        this.#commits = commit
        const read = this.#closed.open(this.#keys.commit(commit), item)
        this.#journals.take(read, this.#journal(read, item), { index, commit })
        this.#journals.passed()
      },
      fail: (problem) => this.#fail(problem)
    })
    this.#commits = history.boundary.commits
    this.#fold = begun.fold
    this.#keptCommits = begun.keptCommits
    this.#memory.beginBehind(history.boundary.receipts, history.boundary.receiptHash)
  }

  #header(key: string, header: RecordHeader): void {
    const expected = this.#keys.commit(this.#commits)
    this.#require(
      different('commit.key', expected, key) ??
        different('commit.seq', this.#commits, header.seq) ??
        different('commit.receipts', this.#fold.chainHead.receipts, header.receipts) ??
        different('commit.leaves', this.#frontier.size, header.leaves)
    )
  }

  /** Checks the journal entries of an item; gives their kinds. */
  #journal(item: ReadItem, stored: RecordItem): readonly string[] {
    const { runId, entries } = item
    const isDerived = this.#commits < (this.#watermark?.seq ?? 0)
    const visit = isDerived ? this.#commits : undefined
    return entries.map((text, index) => {
      const checked = this.#runs.add(runId, text, visit, stored.entries[index])
      if (!checked.ok) this.#fail({ ...checked.problem, key: runId })
      this.#closed.met(item, checked.kind)
      return checked.kind
    })
  }

  async #item(item: RecordItem): Promise<void> {
    const problem = await this.#options.onItem?.(seenItem(item, this.#fold))
    if (problem !== undefined) this.#fail(problem)
  }

  async #receipt(
    item: ReadItem,
    {
      bodies,
      resultText,
      lines,
      commitSeq,
      ordinal
    }: {
      readonly bodies: CheckedBodies
      readonly resultText: string | undefined
      readonly lines: JournalLines
      readonly commitSeq: number
      readonly ordinal: number
    }
  ): Promise<void> {
    const stored = item.receipt
    if (stored === undefined) return
    const { identity, onReceipt } = this.#options
    const checked = checkReceipt({ stored, identity, fold: this.#fold, memory: this.#memory })
    if (!checked.ok) this.#fail(checked.problem)
    const { receipt, changes, chainHead, leaf, textOf } = checked
    const changed = changedTexts(changes, item, bodies)
    this.#require(lines.problem(signedJournal(receipt)))
    if (this.#archived !== undefined && receipt.intent === ARCHIVE_ACTION) {
      const said = bodies.resolveValue(receipt.inputPayload.payload, textOf)
      this.#isArchiveSigned ||= said === canonicalize(signedHistory(this.#archived))
    }
    this.#withheld += withheldOf(receipt, this.#runs)
    if (onReceipt !== undefined) {
      const seen = seenReceipt({
        fold: this.#fold,
        runs: this.#runs,
        item,
        receipt,
        bodies,
        resultText,
        textOf
      })
      const closed = item.closedBy === undefined ? {} : ({ isClosed: true } as const)
      const problem = await onReceipt({ ...seen, ...closed, commitSeq, changes: changed })
      if (problem !== undefined) this.#fail(problem)
    } else checkBodies(receipt, bodies)
    this.#memory.remember(receipt.receiptHash)
    this.#derived?.receipt(receipt, { commitSeq, ordinal })
    await this.#signed(receipt.receiptHash, receipt)
    this.#fold.commit(chainHead, changed)
    this.#grow(leaf)
  }

  async #evidence(text: string, bodies: CheckedBodies, lines: JournalLines) {
    const parsed = parseEvidence(text)
    if (!parsed.ok) this.#fail({ ...parsed.problem, field: `evidence.${parsed.problem.field}` })
    const evidence = parsed.record
    const { identity } = this.#options
    const place = { identity, chainHead: this.#fold.chainHead }
    this.#require(
      evidenceProblem(evidence, parsed.computedHash, place) ?? lines.problem(evidence.journalHash)
    )
    bodies.checkValue(evidence.inputPayload.payload)
    await this.#signed(evidence.evidenceHash, evidence)
    this.#evidenceRecords += 1
    this.#grow(parsed.leaf)
    return { code: evidence.code, details: bodies.resolveValue(evidence.details, parsed.textOf) }
  }

  async #signed(
    hash: string,
    { signature, publicKey }: Pick<Receipt, 'signature' | 'publicKey'>
  ): Promise<void> {
    const place = this.#here({
      field: 'signature',
      signed: signature,
      computed: 'a valid signature over the record hash'
    })
    const waiting = this.signatures.add(place, { signature, hash, publicKey })
    const bad = waiting === undefined ? undefined : await waiting
    if (bad !== undefined) throw new Stop(bad)
  }

  #grow(leaf: Uint8Array): void {
    this.#frontier = this.#frontier.append(leaf)
    this.#derived?.leaf(this.#commits, leaf)
    this.#requireNote(this.#notes.at(this.#frontier, this.#fold.chainHead))
  }

  #requireNote(problem: NoteProblem | undefined): void {
    if (problem === undefined) return
    const { signed, computed, source } = problem
    this.#fail({ field: 'note', signed, computed, key: source })
  }

  async #end(): Promise<void> {
    const { store } = this.#options
    const { chainHead } = this.#fold
    // Behind the records that it is the head of: they verify without it, and a recovery keeps them.
    if (this.#headBytes === undefined) return this.#fail(headless)
    this.#head = parseHead(this.#keys.head, unwrapText(this.#keys.head, this.#headBytes))
    const beyond = this.#notes.beyond()
    if (beyond !== undefined) {
      const { size, source } = beyond
      const computed = String(this.#frontier.size)
      this.#fail({ field: 'note.size', signed: String(size), computed, key: source })
    }
    const commits = this.#commits
    this.#require(checkHead(this.#head, { chainHead, frontier: this.#frontier, commits }))
    if (this.#archived !== undefined && !this.#isArchiveSigned) {
      const computed = 'another archive, or none'
      this.#fail({ field: 'archived', signed: 'the archive that a receipt names', computed })
    }
    const { kept } = this.#options
    if (kept !== undefined && !isBefore(kept, this.#archived)) {
      const placeOf = (hash: Hash) => this.#memory.placeOf(hash)
      this.#require(checkKept(kept, { chainHead, placeOf }))
    }
    const state = await checkStateEntries(store, this.#keys, this.#fold)
    this.#stateEntries = state.entries
    if (state.problem !== undefined) this.#fail(state.problem)
    this.#require(await this.#derived?.finish(this.#runs.runs))
    this.#require(await this.#codes?.problem())
  }

  #require(problem: HookVerdict | undefined): void {
    if (problem !== undefined) this.#fail(problem)
  }

  #fail(problem: HookVerdict): never {
    throw new Stop(this.#here(problem))
  }

  #here(problem: HookVerdict): VerificationFailure {
    return { index: this.#fold.chainHead.receipts, commit: this.#commits, ...problem }
  }

  #report(failure: VerificationFailure | undefined): VerificationReport {
    const { upTo, reports } = this.#notes
    const logSize = this.#frontier.size
    const archived = this.#archived
    const left = { kept: this.#keptCommits, seeds: this.#memory.seedsNotChecked }
    const notChecked = notCheckedIn({
      isReexecuted: this.#options.onReceipt !== undefined,
      withheld: this.#withheld,
      closed: this.#closed.notChecked((key) => this.#fold.read(key)),
      archived: archived === undefined ? [] : notCheckedOfArchives(archived, left),
      notAnchored: logSize - upTo,
      more: [...this.#journals.notChecked(), ...(this.#codes?.notChecked() ?? [])],
      hasFailed: failure !== undefined
    })
    return {
      ok: failure === undefined,
      identity: this.#options.identity,
      commits: this.#commits,
      receipts: this.#fold.chainHead.receipts,
      evidence: this.#evidenceRecords,
      signatures: this.signatures.checked,
      runs: this.#runs.runs.size,
      journalEntries: this.#runs.entries,
      stateEntries: this.#stateEntries,
      head: this.#head,
      ...(archived === undefined ? {} : { archived: archivedPart(archived) }),
      ...(failure === undefined ? {} : { failure }),
      anchored: { upTo, logSize, notes: reports },
      notChecked
    }
  }
}
