import type { Response } from '../../code/index.js'
import {
  blockError,
  type ErrorCode,
  type Hash,
  type Json,
  ledgerError,
  type RunId,
  type TallyError
} from '../../core/index.js'
import { type Ledger, markOf, type RunRecord, type StoredReceipt } from '../../ledger/index.js'
import type { QueueTerms } from '../../queue/index.js'
import { isEnded, waitsOf } from '../run/ended.js'
import { isQueued } from '../run/run-turns.js'
import type { Runs } from '../run/runs.js'
import { checkReceiptResult, checkView, problemOf } from '../run/shown.js'
import type { JournalLine, ReceiptView, RunSummary, RunView } from './service-types.js'
import { uncheckedInList, uncheckedOf, uncheckedOfReceipt } from './unchecked.js'

/** Stored records as plain JSON for those who ask: what the service's methods return. */

export function runSummary(
  record: RunRecord,
  { ledger, runs }: { readonly ledger: Ledger; readonly runs: Runs | undefined }
): RunSummary {
  const { runId, status, started, last, entries, updatedAt } = record
  const { name, at } = started as unknown as { readonly name: string; readonly at: number }
  const parked = last as { readonly due?: number | null; readonly waits?: unknown }
  return {
    id: runId,
    name,
    status,
    startedAt: at,
    updatedAt,
    entries,
    waits: runs?.waits(runId) ?? waitsOf(record),
    due: status === 'waiting' ? (parked.due ?? null) : null,
    ...((runs?.isQueued(runId) ?? isQueued(record)) ? { queued: queueIn(record) } : {}),
    quarantined: markOf(ledger, runId)?.isReleased === false,
    notChecked: uncheckedInList(ledger, record)
  }
}

/** What a run that is queued was started with. */
function queueIn({ started }: RunRecord): QueueTerms {
  return started['queue'] as unknown as QueueTerms
}

/** One of a list: where its waits are not what is signed, it has a problem and none of them. */
export async function runLine(
  record: RunRecord,
  parts: { readonly ledger: Ledger; readonly runs: Runs | undefined }
): Promise<RunSummary> {
  const { ledger, runs } = parts
  const summary = runSummary(record, parts)
  const problem = runs?.isLive(record.runId) === true ? undefined : await problemOf(ledger, record)
  return problem === undefined ? summary : { ...summary, waits: [], problem }
}

/** Why nothing but its record says anything of a run. */
function erasedOf(record: RunRecord | undefined): TallyError | undefined {
  if (record?.isErased !== true) return undefined
  return ledgerError('ledger.erased', { what: `Run ${record.runId}` })
}

/** Throws `run.not_found`. */
export async function runView(ledger: Ledger, runs: Runs | undefined, id: RunId): Promise<RunView> {
  const record = ledger.run(id, { durable: true })
  const archived = ledger.archiving.errorOf(id) ?? erasedOf(record)
  if (record === undefined) throw archived ?? blockError('run.not_found', { runId: id })
  const { definitionHash, input } = record.started as unknown as {
    readonly definitionHash: Hash
    readonly input: Json
  }
  // Brings the rooms that run things, which a list of receipts needs nothing of.
  const { endingUnit } = await import('../run/run-records.js')
  const completed = archived === undefined ? await ledger.unit(endingUnit(record)) : undefined
  if (archived === undefined && runs?.isLive(id) !== true) {
    await checkView(ledger, record, completed)
  }
  const { response } = record.last as unknown as { readonly response: Response }
  const { tagsOfRun } = await import('../queries/run-tags.js')
  const tags = await tagsOfRun(record, { ledger, live: (run) => runs?.liveTags(run) })
  return {
    ...runSummary(record, { ledger, runs }),
    ...(tags.length === 0 ? {} : { tags }),
    definitionHash,
    input: input ?? null,
    response: isEnded(record) ? (response ?? null) : null,
    receiptHash: completed?.receipt.receiptHash ?? null,
    live: runs?.isLive(id) ?? false,
    notChecked: archived === undefined ? uncheckedOf(ledger, record, completed) : [archived.message]
  }
}

/** Throws `run.result_forged`. */
export function receiptView(ledger: Ledger, stored: StoredReceipt): ReceiptView {
  checkReceiptResult(stored)
  return viewOf(ledger, stored)
}

/** {@link receiptView} in a list: a forged result is named, and keeps no other from being shown. */
export function receiptLine(ledger: Ledger, stored: StoredReceipt): ReceiptView {
  const view = viewOf(ledger, stored)
  const problem: ErrorCode = 'run.result_forged'
  return stored.isResultSigned ? view : { ...view, result: null, problem }
}

function viewOf(ledger: Ledger, stored: StoredReceipt): ReceiptView {
  const { index, commitSeq, receipt, writeSet, payloadText, resultText } = stored
  const bodies = { payload: payloadText, result: resultText }
  const withheld = Object.entries(bodies).filter(([, text]) => text === undefined)
  return {
    index,
    commitSeq,
    receipt,
    writeSet,
    payload: bodyOf(payloadText),
    result: bodyOf(resultText),
    withheld: withheld.map(([name]) => name),
    notChecked: uncheckedOfReceipt(ledger)
  }
}

function bodyOf(text: string | undefined): Json {
  return text === undefined ? null : (JSON.parse(text) as Json)
}

export async function* journalLines(
  ledger: Ledger,
  id: RunId,
  from = 0,
  limit = Number.POSITIVE_INFINITY
): AsyncGenerator<JournalLine> {
  let left = limit
  if (left === 0) return
  for await (const { value, receiptHash = null } of ledger.journal(id, from)) {
    yield { entry: value, receiptHash }
    left -= 1
    if (left === 0) return
  }
}
