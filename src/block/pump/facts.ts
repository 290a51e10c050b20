import { assert, canonicalize, type Hash, type Json, limits } from '../../core/index.js'
import { failedResponse, type Response, reasons } from '../protocol.js'
import { applyEntry } from './apply.js'
import type { Attempt } from './attempt.js'
import { builtInEffects, type Call } from './calls.js'
import type { WaitBegun } from './entries.js'
import { restsOn, unfulfilled } from './failing.js'
import type { LeafFact } from './leaves.js'
import type { Outcome } from './outcome.js'
import type { Performed } from './performing.js'
import { contradicted, failureResponse, placeOf, providerOf, timeoutResponse } from './replies.js'
import type { RunPump } from './run-pump.js'
import { overlayOf } from './scope.js'
import { undoFor } from './undoing.js'
import { leafUnit } from './unit.js'
import type { MessageOutcome, WaitMessage } from './waits.js'

/** Something that has happened outside the charts; the pump turns each into journal entries. */
export type Fact =
  | LeafFact
  | { readonly kind: 'timer'; readonly path: string; readonly step: number }
  | { readonly kind: 'due'; readonly token: string }
  | {
      readonly kind: 'cancel'
      readonly reason: string
      readonly by: Json
      readonly resolve: (heard: boolean) => void
      readonly reject: (error: unknown) => void
    }
  | {
      readonly kind: 'message'
      readonly message: WaitMessage
      readonly resolve: (outcome: MessageOutcome) => void
      readonly reject: (error: unknown) => void
    }

/** An attempt's code has ended: its result becomes a receipt, or its failure goes to the chart. */
export function settleOutcome(
  pump: RunPump,
  attempt: Attempt,
  outcome: Outcome
): Promise<void> | undefined {
  if (pump.leaves.at(attempt.ask.path) !== attempt) return undefined
  if (!outcome.ok) {
    const response = failureResponse(outcome)
    return settleFailed(pump, attempt, response, restsOn(attempt, response))
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
    if (scope.hasChanged(attempt.view)) return runAgain(pump, attempt)
    settle(pump, attempt, response, {})
    return undefined
  }
  return pump.host.gate.blocks(attempt, attempt.view.writes.keys())
    ? settleInTurn(pump, attempt, response, outcome.text)
    : commit(pump, attempt, response, outcome.text)
}

/** Another unit of work has reserved what this one changes, or runs alone (L10). */
async function settleInTurn(
  pump: RunPump,
  attempt: Attempt,
  response: Response,
  resultText: string
): Promise<void> {
  if (await pump.host.gate.enter(attempt, attempt.view.writes.keys())) {
    await commit(pump, attempt, response, resultText)
  } else settleFailed(pump, attempt, failedResponse('intent_conflict', {}))
}

function commit(
  pump: RunPump,
  attempt: Attempt,
  response: Response,
  resultText: string
): Promise<void> | undefined {
  if (!settle(pump, attempt, response, { resultText })) return runAgain(pump, attempt)
  return undefined
}

/** Its reads changed before its turn came: again, on the state as it is now (L10). */
async function runAgain(pump: RunPump, attempt: Attempt): Promise<void> {
  attempt.rewind()
  const isAgainstOthers = pump.scopes.around(attempt.ask.path) === undefined
  const isTooOften = isAgainstOthers && attempt.reruns > limits.CONFLICT_RERUNS_MAX
  if (isTooOften && !pump.host.gate.runAlone(attempt)) {
    await pump.host.gate.enter(attempt, [])
  }
  await pump.leaves.run(attempt)
}

function settle(
  pump: RunPump,
  attempt: Attempt,
  response: Response,
  options: { readonly resultText?: string }
): boolean {
  if (pump.root.isUnit) return settleRun(pump, attempt, response, options.resultText ?? '')
  const inScope = pump.scopes.around(attempt.ask.path) !== undefined
  const written = pump.book.append(
    {
      k: 'settled',
      at: pump.book.now(),
      ...placeOf(attempt),
      response,
      sent: attempt.past.hasSent(),
      ...providerOf(attempt),
      ...(inScope ? { overlay: overlayOf(attempt) } : {})
    },
    options.resultText === undefined
      ? {}
      : {
          unit: leafUnit(attempt, pump.unitContext(), attempt.payloadText(), options.resultText),
          dataText: options.resultText
        }
  )
  if (!written.ok) return false
  report(pump, attempt, response, written.receiptHash)
  applyEntry(pump, written.entry)
  return true
}

/** The run is this one unit of work: its end is in the same commit. */
function settleRun(
  pump: RunPump,
  attempt: Attempt,
  response: Response,
  resultText: string
): boolean {
  const { book, runId } = pump
  const at = book.now()
  const status = 'done'
  const sent = attempt.past.hasSent()
  const unit = leafUnit(attempt, pump.unitContext(), attempt.payloadText(), resultText)
  const written = book.appendBoth(
    { k: 'settled', at, ...placeOf(attempt), response, sent, ...providerOf(attempt) },
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

function settleFailed(
  pump: RunPump,
  attempt: Attempt,
  response: Response,
  rests?: ReturnType<typeof restsOn>
): Promise<void> | undefined {
  const at = pump.book.now()
  const sent = attempt.past.hasSent()
  const written = pump.book.append(
    { k: 'settled', at, ...placeOf(attempt), response, sent, ...providerOf(attempt) },
    rests === undefined || pump.scopes.around(attempt.ask.path) !== undefined ? {} : { rests }
  )
  if (!written.ok) return runAgain(pump, attempt)
  report(pump, attempt, response, undefined)
  applyEntry(pump, written.entry)
  return undefined
}

function report(
  pump: RunPump,
  attempt: Attempt,
  response: Response,
  receiptHash: Hash | undefined
): void {
  pump.emit({
    type: 'block.settled',
    runId: pump.runId,
    at: pump.book.at,
    ...placeOf(attempt),
    block: attempt.block.name,
    response,
    ...(receiptHash === undefined ? {} : { receiptHash }),
    ...(attempt.attribution === undefined ? {} : { dappId: attempt.attribution.dappId })
  })
}

/** Every fact that is not the end of an attempt's code. */
export async function answer(
  pump: RunPump,
  fact: Exclude<Fact, { readonly kind: 'outcome' }>
): Promise<void> {
  switch (fact.kind) {
    case 'performed':
      return performed(pump, fact.attempt, fact.call, fact.performed)
    case 'deadline': {
      const { attempt } = fact
      if (pump.leaves.at(attempt.ask.path) !== attempt) return
      return settleFailed(pump, attempt, timeoutResponse(attempt))
    }
    case 'stale': {
      const { attempt, reruns } = fact
      if (pump.leaves.at(attempt.ask.path) !== attempt || attempt.reruns !== reruns) return
      return runAgain(pump, attempt)
    }
    case 'timer':
      return pump.record({ k: 'timer', at: pump.book.now(), path: fact.path, step: fact.step })
    case 'due':
      return dueWait(pump, fact.token)
    case 'cancel':
      return told(fact, async () => {
        pump.record({ k: 'cancel', at: pump.book.now(), reason: fact.reason, by: fact.by })
        await pump.host.journal.durable(pump.book.position)
        return true
      })
    case 'message':
      return told(fact, () => message(pump, fact.message))
  }
}

/** Tells whoever asked what came of it, an error too: nobody may wait for ever (L3). */
async function told<Outcome>(
  asked: {
    readonly resolve: (outcome: Outcome) => void
    readonly reject: (error: unknown) => void
  },
  act: () => Promise<Outcome>
): Promise<void> {
  try {
    asked.resolve(await act())
  } catch (error) {
    asked.reject(error)
    throw error
  }
}

async function performed(
  pump: RunPump,
  attempt: Attempt,
  call: Call,
  result: Performed
): Promise<void> {
  switch (result.kind) {
    case 'done':
      return seal(pump, attempt, call, { ok: true, body: JSON.parse(result.text) as Json })
    case 'failed':
      return seal(pump, attempt, call, { ok: false, body: { ...result.failure } })
    case 'unknown':
      if (pump.leaves.at(attempt.ask.path) !== attempt) return
      // Nobody can tell whether it happened, so a person has to (L7).
      return pump.openWait({
        place: placeOf(attempt),
        seq: call.seq,
        reason: 'decision',
        request: {
          unknown_outcome: call.effect,
          request: call.request,
          failure: { ...result.failure }
        },
        requestHash: call.requestHash,
        actions: ['retry', 'resume', 'abort'],
        due: null,
        blockHash: attempt.block.codeHash
      })
  }
}

/** Records a call's result, then lets the code have it; the code runs before anything else does. */
async function seal(
  pump: RunPump,
  attempt: Attempt,
  call: Pick<Call, 'seq' | 'effect' | 'requestHash'> & { readonly request?: Json },
  result: { readonly ok: boolean; readonly body: Json }
): Promise<void> {
  const { salt, hash } = pump.host.journal.seal(attempt.unitId, call.seq, canonicalize(result.body))
  pump.record({
    k: 'sealed',
    at: pump.book.now(),
    ...placeOf(attempt),
    seq: call.seq,
    effect: call.effect,
    requestHash: call.requestHash,
    responseHash: hash,
    salt,
    ...result,
    ...undoFor(pump, attempt, call, result)
  })
  const { path, step } = attempt.ask
  pump.emit({
    type: 'effect.sealed',
    runId: pump.runId,
    at: pump.book.at,
    path,
    step,
    seq: call.seq,
    effect: call.effect,
    ok: result.ok
  })
  await pump.quiet(attempt)
}

async function dueWait(pump: RunPump, token: string): Promise<void> {
  const wait = pump.agenda.waits.get(token)
  if (wait === undefined) return
  const attempt = pump.leaves.at(wait.path)
  if (wait.seq === null) {
    pump.agenda.close(token)
    return pump.record({ k: 'timer', at: pump.book.now(), path: wait.path, step: wait.step })
  }
  if (attempt === undefined) return
  if (wait.seq === 0) return settleFailed(pump, attempt, timeoutResponse(attempt))
  const isSleep = wait.reason === 'poll'
  const body = isSleep ? null : { action: 'timeout', value: null, by: null }
  return seal(pump, attempt, callOf(wait, isSleep), { ok: true, body })
}

function callOf(
  wait: WaitBegun,
  isSleep: boolean
): { readonly seq: number; readonly effect: string; readonly requestHash: Hash } {
  const effect = isSleep ? builtInEffects.sleep : builtInEffects.wait
  return { seq: wait.seq ?? 0, effect, requestHash: wait.requestHash }
}

async function message(
  pump: RunPump,
  { token, digest, action, value, by }: WaitMessage
): Promise<MessageOutcome> {
  const refusal = pump.agenda.waits.refusal({ token, digest, action, by })
  const wait = pump.agenda.waits.get(token)
  // Code that another state has led past its wait needs no answer any more.
  const isPast = wait !== undefined && pump.leaves.at(wait.path)?.isPast(wait) === true
  if (refusal !== undefined || wait === undefined || isPast) {
    // A refusal tells too that something has happened to the wait (D2).
    await pump.host.journal.durable(pump.book.position)
    return refusal ?? { accepted: false, reason: 'unknown_token' }
  }
  const { path } = wait
  await act(pump, wait, { action, value: value ?? null, by })
  pump.emit({ type: 'answered', runId: pump.runId, at: pump.book.at, path, token, action })
  await pump.host.journal.durable(pump.book.position)
  return { accepted: true }
}

async function act(
  pump: RunPump,
  wait: WaitBegun,
  given: { readonly action: WaitMessage['action']; readonly value: Json; readonly by: Json }
): Promise<void> {
  const { action, value, by } = given
  const at = pump.book.now()
  const { path, step, token, seq } = wait
  if (seq === null) {
    return pump.record({ k: 'decision', at, path, step, token, action, patch: value, by })
  }
  const attempt = pump.leaves.at(path)
  assert(attempt !== undefined, 'a wait of a call belongs to an attempt')
  if (wait.reason === 'decision') return decideUnknown(pump, attempt, wait, given)
  const body = { action, value, by, at, digest: wait.digest }
  if (seq > 0) return seal(pump, attempt, callOf(wait, false), { ok: true, body })
  if (action !== 'deny') return seal(pump, attempt, callOf(wait, false), { ok: true, body })
  settleFailed(pump, attempt, failedResponse(reasons.denied, { by, at }))
}

/** A person says what became of an effect whose outcome is unknown. */
async function decideUnknown(
  pump: RunPump,
  attempt: Attempt,
  wait: WaitBegun,
  given: { readonly action: WaitMessage['action']; readonly value: Json; readonly by: Json }
): Promise<void> {
  const seq = wait.seq ?? 0
  const call = [...attempt.outstanding()].find((one) => one.seq === seq)
  assert(call !== undefined && call.kind === 'effect', 'the effect in doubt is outstanding')
  const { effect, request, requestHash } = call
  const named = { seq, effect, request, requestHash }
  const { token } = wait
  const { action, by } = given
  pump.record({ k: 'answered', at: pump.book.now(), ...placeOf(attempt), seq, token, action, by })
  if (given.action === 'resume') {
    return seal(pump, attempt, named, { ok: true, body: given.value })
  }
  if (given.action === 'abort') {
    const body = { reason: 'unknown_outcome', definite: false, details: { decided_by: given.by } }
    return seal(pump, attempt, named, { ok: false, body })
  }
  pump.leaves.send(attempt, call, true)
}
