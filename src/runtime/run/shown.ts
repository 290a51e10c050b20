import {
  blockError,
  canonicalize,
  chainJournal,
  checkWait,
  type Hash,
  isTallyError,
  limits,
  type RunId,
  sha256Hex
} from '../../core/index.js'
import type { JournalEntry, Ledger, RunRecord, StoredReceipt } from '../../ledger/index.js'
import { waitsOf } from './ended.js'

/**
 * What is shown of a run is what is signed (L12): looked at when it is shown, since a run
 * in the ledger is whatever stands on the disk.
 *
 * Owns nothing. What a run in memory says of itself needs none of this; one that is resumed is
 * looked at by its pump.
 */

export type ShownLedger = Pick<Ledger, 'run' | 'journalParts' | 'authenticate' | 'hasKey'>

/**
 * What waits, or how the run has ended. As far as the key of a ledger is needed, and there is none,
 * nothing is looked at.
 */
export async function checkShown(
  ledger: ShownLedger,
  record: RunRecord,
  completed: StoredReceipt | undefined
): Promise<void> {
  checkEnd(record, completed)
  const { status } = record
  if (status !== 'done' && status !== 'running' && ledger.hasKey) await checkJournal(ledger, record)
}

/**
 * All that a view of a run has: its input too, which stands in the journal alone. Throws
 * `run.wait_forged`, `run.result_forged`, `run.journal_forged`.
 */
export async function checkView(
  ledger: ShownLedger,
  record: RunRecord,
  completed: StoredReceipt | undefined
): Promise<void> {
  checkEnd(record, completed)
  if (ledger.hasKey) await checkJournal(ledger, record)
  else if (completed !== undefined && signsJournal(completed)) {
    await checkSigned(ledger, record, completed)
  }
}

function checkEnd(record: RunRecord, completed: StoredReceipt | undefined): void {
  const { runId, status } = record
  for (const wait of waitsOf(record)) checkWait(runId, wait)
  if (status === 'done') checkResult(record, completed)
  else if (completed !== undefined) {
    const problem = `receipt ${completed.receipt.receiptHash} says that it succeeded`
    throw blockError('run.result_forged', { runId, problem })
  }
}

/** Compares the journal of a run that succeeded with what its receipt signs of it. */
async function checkSigned(
  ledger: ShownLedger,
  record: RunRecord,
  completed: StoredReceipt
): Promise<void> {
  checkJournalHash(record, completed, await readJournal(ledger, record.runId))
}

function checkJournalHash(
  { runId, entries }: RunRecord,
  { payloadText }: StoredReceipt,
  { beforeLast }: ReadJournal
): void {
  const { journalHash } = JSON.parse(payloadText ?? '{}') as { readonly journalHash?: unknown }
  if (beforeLast === journalHash) return
  throw blockError('run.journal_forged', { runId, entry: entries - 1 })
}

/** Whether the receipt of a run that succeeded is over its whole journal, and can be read. */
export function signsJournal({ receipt, payloadText }: StoredReceipt): boolean {
  const { action, run } = receipt.inputPayload
  return payloadText !== undefined && action === 'run.completed' && run?.step === 0
}

/**
 * Compares the result of a run that succeeded with its receipt. A body that is withheld has nothing
 * to be compared with. Throws `run.result_forged`.
 */
function checkResult({ runId, last }: RunRecord, completed: StoredReceipt | undefined): void {
  const { response } = last as unknown as { readonly response?: { readonly data?: unknown } }
  if (completed === undefined) {
    throw blockError('run.result_forged', { runId, problem: 'no receipt ends it' })
  }
  checkReceiptResult(completed)
  const { resultText, receipt } = completed
  if (resultText === undefined || canonicalize(response?.data ?? null) === resultText) return
  const problem = `it is not the result of receipt ${receipt.receiptHash}`
  throw blockError('run.result_forged', { runId, problem })
}

/** Compares the result beside a receipt with the receipt. Throws `run.result_forged`. */
export function checkReceiptResult({ isResultSigned, receipt }: StoredReceipt): void {
  if (isResultSigned) return
  const runId = receipt.inputPayload.run?.runId ?? 'none'
  const problem = `receipt ${receipt.receiptHash} signs another one than is stored`
  throw blockError('run.result_forged', { runId, problem })
}

/**
 * Compares what waits, or how a run failed, with the run's journal, and that with the last code of
 * it. Throws `run.journal_forged`.
 */
async function checkJournal(ledger: ShownLedger, { runId }: RunRecord): Promise<void> {
  for (let look = 0; look < limits.VERIFY_ATTEMPTS_MAX; look += 1) {
    const record = ledger.run(runId, { durable: true })
    if (record === undefined) return
    const found = await readJournal(ledger, runId)
    // It may have gone on meanwhile; then its pump has looked at all of it.
    if (ledger.run(runId, { durable: true })?.entries !== record.entries) continue
    checkCode(ledger, record, found)
    return
  }
}

/** Throws `run.journal_forged`. */
function checkCode(
  ledger: ShownLedger,
  { runId, entries, started, last }: RunRecord,
  found: ReadJournal
): void {
  const isSame =
    entries === found.entries &&
    sha256Hex(canonicalize(started)) === found.started &&
    sha256Hex(canonicalize(last)) === found.last
  if (isSame && found.mac === ledger.authenticate(found.journalHash)) return
  throw blockError('run.journal_forged', { runId, entry: found.entries - 1 })
}

/**
 * The journal of a run in parts from an entry on, through an entry at least, compared as by
 * {@link checkView} when its last part was taken: nothing of it is to be shown before that. What
 * `compared` has come to is not compared again; behind the last part it is where the comparison
 * stands, if that is true. With a key, codes are over each beginning of the journal, so what comes
 * behind `through` is not looked at. Throws what {@link checkView} throws.
 */
export async function* comparedJournal(
  ledger: ShownLedger,
  record: RunRecord,
  {
    compared,
    from,
    through,
    completed
  }: {
    readonly compared: ReadJournal
    readonly from: number
    readonly through: number
    readonly completed: () => Promise<StoredReceipt | undefined>
  }
): AsyncGenerator<readonly JournalEntry[], boolean> {
  let at = Math.min(from, compared.entries)
  for await (const part of ledger.journalParts(record.runId, at)) {
    for (const [index, entry] of part.entries()) {
      // Each is the one behind the last: where one were not, no code would fit.
      if (at >= compared.entries) compared.take(entry)
      at += 1
      const isFar = compared.entries > through && compared.entries < record.entries
      if (!isFar || !ledger.hasKey || entry.mac === undefined) continue
      yield part.slice(0, index + 1)
      checkBeginning(ledger, record, compared)
      return true
    }
    yield part
  }
  return checkWhole(ledger, record, { found: compared, completed: await completed() })
}

/** Compares a journal that was read to its end; false where the run has gone on meanwhile. */
async function checkWhole(
  ledger: ShownLedger,
  record: RunRecord,
  {
    found,
    completed
  }: { readonly found: ReadJournal; readonly completed: StoredReceipt | undefined }
): Promise<boolean> {
  checkEnd(record, completed)
  const now = ledger.run(record.runId, { durable: true })
  if (now === undefined) return false
  if (now.entries !== record.entries) {
    await checkView(ledger, now, completed)
    return false
  }
  if (ledger.hasKey) checkCode(ledger, record, found)
  else if (completed !== undefined && signsJournal(completed)) {
    checkJournalHash(record, completed, found)
  }
  return true
}

/** Throws `run.journal_forged`. */
function checkBeginning(
  ledger: ShownLedger,
  { runId, started }: Pick<RunRecord, 'runId' | 'started'>,
  found: ReadJournal
): void {
  const isSame = sha256Hex(canonicalize(started)) === found.started
  if (isSame && found.mac === ledger.authenticate(found.journalHash)) return
  throw blockError('run.journal_forged', { runId, entry: found.entries - 1 })
}

/**
 * Compares how a run began with the first code over its journal, which is behind its first entries.
 * Undefined where no code says so: there is no key, or there are none. Throws `run.journal_forged`.
 */
export async function checkStarted(
  ledger: ShownLedger,
  { runId, started }: Pick<RunRecord, 'runId' | 'started'>
): Promise<true | undefined> {
  if (!ledger.hasKey) return undefined
  const found = new ReadJournal()
  for await (const part of ledger.journalParts(runId)) {
    for (const entry of part) {
      found.take(entry)
      if (entry.mac === undefined) continue
      checkBeginning(ledger, { runId, started }, found)
      return true
    }
  }
  return undefined
}

/** What a journal has come to, entry by entry. */
export class ReadJournal {
  journalHash = '' as Hash
  beforeLast = '' as Hash
  entries = 0
  /** Hash of the entry with which the run began, and of the last one about the run. */
  started = '' as Hash
  last = '' as Hash
  mac: Hash | undefined

  /** One that goes on by itself. */
  copy(): ReadJournal {
    return Object.assign(new ReadJournal(), this)
  }

  take(entry: JournalEntry): void {
    const { text, mac } = entry
    this.beforeLast = this.journalHash
    this.journalHash = chainJournal(this.journalHash, text)
    if (isAboutRun(entry)) this.last = sha256Hex(text)
    if (this.entries === 0) this.started = sha256Hex(text)
    this.entries += 1
    this.mac = mac
  }
}

async function readJournal(ledger: ShownLedger, runId: RunId): Promise<ReadJournal> {
  const found = new ReadJournal()
  for await (const part of ledger.journalParts(runId)) {
    for (const entry of part) found.take(entry)
  }
  return found
}

function isAboutRun(entry: JournalEntry): boolean {
  // What has it nowhere has it not as its kind: most entries are not parsed.
  if (!entry.text.includes('"k":"run.')) return false
  return String((entry.value as { readonly k?: unknown }).k).startsWith('run.')
}

/** Why the waits of a run cannot be shown in a list; undefined where they can. */
export async function problemOf(
  ledger: ShownLedger,
  record: RunRecord
): Promise<string | undefined> {
  try {
    if (record.status === 'waiting') await checkShown(ledger, record, undefined)
    return undefined
  } catch (error) {
    if (!isTallyError(error)) throw error
    return error.code
  }
}
