import { type Hash, type Json, limits } from '../../core/index.js'
import { failedResponse, type Response, reasons } from '../protocol.js'
import { contradicted, failureResponse, type Outcome } from '../run/outcome.js'
import { overlayOf, type Scope } from '../run/scope.js'
import { leafUnit } from '../run/unit.js'
import { applyEntry } from './apply.js'
import type { Attempt } from './attempt.js'
import { restsOn, unfulfilled } from './failing.js'
import { placeOf, providerOf } from './replies.js'
import type { RunDriver } from './run-driver.js'

/** An attempt's code has ended: its result becomes a receipt, or its failure goes to the chart. */
export function settleOutcome(
  pump: RunDriver,
  attempt: Attempt,
  outcome: Outcome
): Promise<void> | undefined {
  if (pump.leaves.at(attempt.ask.path) !== attempt) return undefined
  if (!outcome.ok) {
    const response = failureResponse(outcome)
    const rests = restsOn(attempt, response)
    const around = pump.scopes.around(attempt.ask.path)
    // Beside it something has changed what it had read (L10, D3).
    if (rests !== undefined && isOutdated(attempt, around)) return runAgain(pump, attempt)
    return settleFailed(pump, attempt, response, rests)
  }
  if (pump.book.steps >= limits.RUN_STEPS_MAX) {
    const details = { max_steps: limits.RUN_STEPS_MAX, node: attempt.ask.path }
    return settleFailed(pump, attempt, failedResponse(reasons.maxStepsExceeded, details))
  }
  const contradiction = unfulfilled(attempt)
  if (contradiction !== undefined) {
    return settleFailed(pump, attempt, failureResponse(contradicted(contradiction)))
  }
  const data = JSON.parse(outcome.text) as Json
  const response: Response = { success: true, data, metadata: {} }
  const scope = pump.scopes.around(attempt.ask.path)
  if (scope !== undefined) {
    if (isOutdated(attempt, scope)) return runAgain(pump, attempt)
    scope.know(data, outcome.text)
    settleInScope(pump, attempt, response, outcome.text)
    return undefined
  }
  return pump.host.gate.blocks(attempt, attempt.view.writes.keys())
    ? settleInTurn(pump, attempt, response, outcome.text)
    : commit(pump, attempt, response, outcome.text)
}

/** Whether what it has read is not so any more, as far as its overlay can tell. */
function isOutdated({ view }: Attempt, around: Scope | undefined): boolean {
  return around === undefined ? view.isOutdated : around.hasChanged(view)
}

/** Another unit of work has reserved what this one changes, or runs alone (L10). */
async function settleInTurn(
  pump: RunDriver,
  attempt: Attempt,
  response: Response,
  resultText: string
): Promise<void> {
  if (await pump.host.gate.enter(attempt, attempt.view.writes.keys())) {
    await commit(pump, attempt, response, resultText)
  } else settleFailed(pump, attempt, failedResponse('intent_conflict', {}))
}

function commit(
  pump: RunDriver,
  attempt: Attempt,
  response: Response,
  resultText: string
): Promise<void> | undefined {
  if (!settle(pump, attempt, response, resultText)) return runAgain(pump, attempt)
  return undefined
}

/** Its reads changed before its turn came: again, on the state as it is now (L10). */
export async function runAgain(pump: RunDriver, attempt: Attempt): Promise<void> {
  attempt.rewind()
  const isAgainstOthers = pump.scopes.around(attempt.ask.path) === undefined
  const isTooOften = isAgainstOthers && attempt.reruns > limits.CONFLICT_RERUNS_MAX
  if (isTooOften && !pump.host.gate.runAlone(attempt)) {
    await pump.host.gate.enter(attempt, [])
  }
  await pump.leaves.run(attempt)
}

function settle(
  pump: RunDriver,
  attempt: Attempt,
  response: Response,
  resultText: string
): boolean {
  if (isOutdated(attempt, undefined)) return false
  if (pump.root.isUnit) return settleRun(pump, attempt, response, resultText)
  const unit = leafUnit(attempt, pump.unitContext(), attempt.payloadText(), resultText)
  const written = pump.book.append(settledEntry(pump, attempt, response), {
    unit,
    dataText: resultText
  })
  if (!written.ok) return false
  report(pump, attempt, response, written.receiptHash)
  applyEntry(pump, written.entry)
  return true
}

/** Its overlay has it, and leaves a receipt for all that is in it. */
function settleInScope(
  pump: RunDriver,
  attempt: Attempt,
  response: Response,
  dataText: string
): void {
  const overlay = overlayOf(attempt)
  const draft = { overlay, ...settledEntry(pump, attempt, response) }
  const entry = pump.book.gather(draft, { dataText })
  report(pump, attempt, response, undefined)
  applyEntry(pump, entry)
}

function settledEntry(pump: RunDriver, attempt: Attempt, response: Response) {
  return {
    k: 'settled',
    at: pump.book.now(),
    response,
    sent: attempt.past.hasSent(),
    ...placeOf(attempt),
    ...providerOf(attempt)
  } as const
}

/** The run is this one unit of work: its end is in the same commit. */
function settleRun(
  pump: RunDriver,
  attempt: Attempt,
  response: Response,
  resultText: string
): boolean {
  const { book, runId } = pump
  const settled = settledEntry(pump, attempt, response)
  const { at } = settled
  const status = 'done'
  const unit = leafUnit(attempt, pump.unitContext(), attempt.payloadText(), resultText)
  const written = book.appendBoth(
    settled,
    (journalHash) => ({ k: 'run.finished', at, status, response, journalHash }),
    { unit, dataText: resultText }
  )
  if (!written.ok) return false
  const { receiptHash } = written
  const hash = receiptHash === undefined ? {} : { receiptHash }
  report(pump, attempt, response, receiptHash)
  pump.emit({ type: 'run.finished', runId, at, status, response, ...hash })
  pump.end({ kind: 'finished', status, response, receiptHash, dappId: unit.dappId })
  applyEntry(pump, written.entry)
  return true
}

export function settleFailed(
  pump: RunDriver,
  attempt: Attempt,
  response: Response,
  rests?: ReturnType<typeof restsOn>
): Promise<void> | undefined {
  const written = pump.book.append(
    settledEntry(pump, attempt, response),
    rests === undefined || pump.scopes.around(attempt.ask.path) !== undefined ? {} : { rests }
  )
  if (!written.ok) return runAgain(pump, attempt)
  report(pump, attempt, response, undefined)
  applyEntry(pump, written.entry)
  return undefined
}

function report(
  pump: RunDriver,
  attempt: Attempt,
  response: Response,
  receiptHash: Hash | undefined
): void {
  pump.emit({
    type: 'block.settled',
    runId: pump.runId,
    at: pump.book.at,
    block: attempt.block.name,
    response,
    ...placeOf(attempt),
    ...(receiptHash === undefined ? {} : { receiptHash }),
    ...(attempt.attribution === undefined ? {} : { dappId: attempt.attribution.dappId })
  })
}
