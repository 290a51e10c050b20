import { canonicalize, type Hash, type Json, type RunId } from '../../core/index.js'
import { type Undo, undoOf } from '../compensation.js'
import type { EvidenceDraft } from '../journal.js'
import type { DecisionAsk } from '../protocol.js'
import type { EffectRequest } from '../run/calls.js'
import type { Outcome } from '../run/outcome.js'
import type { Scope } from '../run/scope.js'
import { unitIdOf } from '../run/unit-ids.js'
import type { Attempt } from './attempt.js'
import type { PumpHost } from './host.js'

/** Writes inside an atomic composite: what they need before, and what undoes them after (C4). */

/** How a write of this attempt is undone, as its block says, or else its provider. */
function compensationFor(attempt: Attempt, effect: string, host: PumpHost) {
  return attempt.block.compensate ?? host.provider(effect)?.compensate
}

/**
 * Why a write may not be sent inside an overlay: nobody can undo it, or what it rests on has
 * changed (L10).
 */
export function refusalInScope(
  attempt: Attempt,
  call: Pick<EffectRequest, 'effect'>,
  { scope, host }: { readonly scope: Scope; readonly host: PumpHost }
): (Outcome & { readonly ok: false }) | undefined {
  const { effect } = call
  if (compensationFor(attempt, effect, host) === undefined) {
    const errorType = 'NotReversible'
    return { ok: false, reason: 'not_reversible', errorType, details: { effect } }
  }
  const { view } = scope.outermost
  const conflict = { ok: false, reason: 'intent_conflict', errorType: 'IntentConflict' } as const
  if (view.isOutdated) return { ...conflict, details: { effect } }
  for (const [key, seen] of view.reads) {
    if (host.journal.read(key) === seen) continue
    return { ...conflict, details: { effect } }
  }
  return undefined
}

/** Keeps other units from changing what a write rests on, until the overlay has ended (L10). */
export function reserveInScope(pump: object, scope: Scope, { gate }: PumpHost): void {
  const { view } = scope.outermost
  gate.reserve(pump, view.reads.keys(), view.lists.keys())
}

interface Answered {
  readonly seq: number
  readonly effect: string
  readonly requestHash: Hash
  readonly request?: Json
}

/** What undoes a call that was just answered; undefined when it is no write inside an overlay. */
export function undoFor(
  attempt: Attempt,
  call: Answered,
  result: { readonly ok: boolean; readonly body: Json },
  { scope, host }: { readonly scope: Scope | undefined; readonly host: PumpHost }
): { readonly undo?: Undo | null } {
  if (!result.ok || scope === undefined) return {}
  if (!attempt.past.requested.has(call.seq)) return {}
  const { effect, request = null } = call
  const compensation = compensationFor(attempt, effect, host)
  if (compensation === undefined) return { undo: null }
  return { undo: undoOf(compensation, { effect, request, response: result.body }) }
}

/** A deferred step failed for good: evidence that its composite's promise is not kept yet. */
export function releaseEvidence(
  { path, step, response }: DecisionAsk,
  given: Pick<EvidenceDraft, 'landed' | 'at'> & {
    readonly runId: RunId
    readonly parent: Hash | undefined
  }
): EvidenceDraft {
  const { runId, parent = null, landed, at } = given
  return {
    type: 'failure',
    unitId: unitIdOf(runId, path, step),
    action: 'step.deferred',
    payloadText: canonicalize({ parent, path }),
    landed,
    code: response.reason ?? 'failed',
    details: response.details ?? {},
    at
  }
}
