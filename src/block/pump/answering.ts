import { assert, canonicalize, type Hash, type Json } from '../../core/index.js'
import { failedResponse, reasons } from '../protocol.js'
import { builtInEffects, type Call } from '../run/calls.js'
import type { WaitBegun } from '../run/entries.js'
import { timeoutResponse } from '../run/outcome.js'
import type { MessageOutcome, WaitMessage } from '../run/waits.js'
import type { Attempt } from './attempt.js'
import type { Fact } from './fact.js'
import type { Performed } from './performing.js'
import { placeOf } from './replies.js'
import type { RunDriver } from './run-driver.js'
import { runAgain, settleFailed } from './settling.js'
import { undoFor } from './undoing.js'

/** Every fact that is not the end of an attempt's code. */
export async function answer(
  pump: RunDriver,
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
        await pump.book.durable()
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
  pump: RunDriver,
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
  pump: RunDriver,
  attempt: Attempt,
  call: Pick<Call, 'seq' | 'effect' | 'requestHash'> & { readonly request?: Json },
  result: { readonly ok: boolean; readonly body: Json }
): Promise<void> {
  const { salt, hash } = pump.host.journal.seal(attempt.unitId, call.seq, canonicalize(result.body))
  pump.record({
    k: 'sealed',
    at: pump.book.now(),
    seq: call.seq,
    effect: call.effect,
    requestHash: call.requestHash,
    responseHash: hash,
    salt,
    ...placeOf(attempt),
    ...result,
    ...undoFor(attempt, call, result, {
      scope: pump.scopes.around(attempt.ask.path),
      host: pump.host
    })
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

async function dueWait(pump: RunDriver, token: string): Promise<void> {
  const wait = pump.agenda.waits.get(token)
  if (wait === undefined) return
  const attempt = pump.leaves.at(wait.path)
  if (wait.seq === null) {
    pump.agenda.close(token)
    return pump.record({ k: 'timer', at: pump.book.now(), path: wait.path, step: wait.step })
  }
  // Code that has ended does not wait any more, though its end has not had its turn.
  if (attempt === undefined || attempt.hasEnded) return
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
  pump: RunDriver,
  { token, digest, action, value, by }: WaitMessage
): Promise<MessageOutcome> {
  const refusal = pump.agenda.waits.refusal({ token, digest, action, by })
  const wait = pump.agenda.waits.get(token)
  // Code that another state has led past its wait needs no answer any more.
  const isPast = wait !== undefined && pump.leaves.at(wait.path)?.isPast(wait) === true
  if (refusal !== undefined || wait === undefined || isPast) {
    // A refusal tells too that something has happened to the wait (D2).
    await pump.book.durable()
    return refusal ?? { accepted: false, reason: 'unknown_token' }
  }
  const { path } = wait
  await act(pump, wait, { action, value: value ?? null, by })
  pump.emit({ type: 'answered', runId: pump.runId, at: pump.book.at, path, token, action })
  await pump.book.durable()
  return { accepted: true }
}

async function act(
  pump: RunDriver,
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
  pump: RunDriver,
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
