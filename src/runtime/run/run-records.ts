import { type OpenWait, type RunEvent, runUnitId, singleStepUnitId } from '../../block/index.js'
import { ledgerError, type RunId, type TallyError, type UnitId } from '../../core/index.js'
import { isIntentDefinition, KERNEL_ID } from '../../intent/index.js'
import type { Ledger, Receipt, RunRecord } from '../../ledger/index.js'
import type { DeliveredEvent } from './channel.js'
import { isEnded } from './ended.js'
import type { RunResult } from './handle.js'
import { checkShown, type ShownLedger } from './shown.js'

/** How runs stand, read off the records that the ledger keeps of them. */

/** The events that show a new reader how a run stands. */
export function presentEvents(
  runId: RunId,
  record: RunRecord | undefined,
  { waits, isLive }: { readonly waits: readonly OpenWait[]; readonly isLive: boolean }
): readonly DeliveredEvent[] {
  if (record === undefined) return []
  const at = record.updatedAt
  if (isEnded(record)) {
    const { status, response } = resultOf(runId, record)
    return [{ type: 'run.finished', runId, at, status, response }]
  }
  const waiting: DeliveredEvent[] = waits.map((wait) => ({ type: 'waiting', runId, at, ...wait }))
  if (record.status !== 'waiting' || isLive) return waiting
  const { due = null } = record.last as { readonly due?: number | null }
  return [...waiting, { type: 'run.parked', runId, at, waits, due }]
}

/** Whether a step of a document, not a single-step run, was done by the kernel itself. */
export function isKernelStep({
  dappId,
  path,
  receiptHash
}: RunEvent & { readonly type: 'block.settled' }): boolean {
  return receiptHash !== undefined && dappId === KERNEL_ID && path !== 'root'
}

/** Whether a run is a single-step run. */
export function isIntentRun(record: RunRecord): boolean {
  return isIntentDefinition(record.started['definition'])
}

/** The unit of work whose receipt ends a run. */
export function endingUnit(record: RunRecord): UnitId {
  return isIntentRun(record) ? singleStepUnitId(record.runId) : runUnitId(record.runId)
}

/** Whether journal and receipts of a run stand in an archive, and its record alone is here. */
export function isArchived(ledger: Pick<Ledger, 'archiving'>, { runId }: RunRecord): boolean {
  return ledger.archiving.errorOf(runId) !== undefined
}

/** Why nothing is told of a run whose subject was erased. */
export function erasedRun({ runId }: Pick<RunRecord, 'runId'>): TallyError {
  return ledgerError('ledger.erased', { what: `Run ${runId}` })
}

/** The result of a run that has ended, as its last entry tells it. */
export function resultOf(
  runId: RunId,
  record: RunRecord,
  receipt?: Pick<Receipt, 'receiptHash' | 'dappId'>
): RunResult {
  const { status, response } = record.last as unknown as RunResult
  if (receipt === undefined) return { id: runId, status, response }
  const { receiptHash, dappId } = receipt
  const by = isIntentRun(record) ? { dappId } : {}
  return { id: runId, status, response, receiptHash, ...by }
}

/**
 * The result of a run of the ledger, compared with what is signed if it is shown (L12). One that
 * is only resumed is not: its pump looks at the journal before it continues.
 */
export async function resultIn(
  ledger: ShownLedger & Pick<Ledger, 'unit' | 'archiving'>,
  record: RunRecord,
  { isShown }: { readonly isShown: boolean }
): Promise<RunResult | undefined> {
  const hasEnded = isEnded(record)
  if (record.isErased) throw erasedRun(record)
  // Its record has a code of the ledger; what it could be compared with is in the archive.
  if (hasEnded && isArchived(ledger, record)) return resultOf(record.runId, record)
  const completed = hasEnded ? await ledger.unit(endingUnit(record)) : undefined
  if (isShown) await checkShown(ledger, record, completed)
  return hasEnded ? resultOf(record.runId, record, completed?.receipt) : undefined
}
