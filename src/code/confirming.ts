import type { Json } from '../core/index.js'
import { approversOf } from '../identity/index.js'
import type { Block } from './block.js'
import { builtInEffects, type Call, requestHashOf, type WaitRequest } from './calls.js'
import { BlockFailure, EffectFailure, type WaitAnswer, type WaitOptions } from './context.js'
import type { ConfirmObligation } from './obligation.js'
import { reasons } from './request.js'

/** Asking a person, also because an obligation says so before something is done (K14). */

/** An effect that code asks for. */
export interface AskedEffect {
  readonly name: string
  readonly request: Json
  /** A person has just approved exactly this. */
  readonly confirmed?: boolean
}

/** What is still to be asked before an effect, whichever block asks for it. */
export function effectConfirmation(
  { obligations }: Pick<Block, 'obligations'>,
  { name, confirmed = false }: AskedEffect
): ConfirmObligation | undefined {
  const effects = obligations?.run.effects
  if (effects === undefined || !Object.hasOwn(effects, name)) return undefined
  const confirm = effects[name]?.confirm
  // An approval that any answer could give is not that of approvers.
  return confirmed && confirm?.approvers === undefined ? undefined : confirm
}

/** Throws `denied` or `timed_out` for an answer that is no approval. */
export function checkApproved({ action, by, at }: WaitAnswer): void {
  if (action === 'approve') return
  if (action === 'timeout') throw new BlockFailure(reasons.timedOut)
  throw new BlockFailure(reasons.denied, { by, at: at ?? null })
}

/** The same for the code that has asked for the effect: it certainly was not sent. */
export function deniedEffect(error: unknown): never {
  if (!(error instanceof BlockFailure)) throw error
  const { reason, details } = error
  throw new EffectFailure(reason, { definite: true, details })
}

interface WaitTerms extends Pick<WaitOptions, 'reason'> {
  readonly timeoutMs?: number | undefined
  readonly approvers?: WaitOptions['approvers'] | undefined
}

/** Makes the call by which code waits. Throws `invalid_approvers`. */
export function waitCall({
  reason,
  timeoutMs,
  approvers: given
}: WaitTerms): (call: Omit<Call, 'kind'>) => WaitRequest {
  const named = given === undefined ? undefined : approversOf(given)
  if (named !== undefined && 'problem' in named) {
    throw new BlockFailure('invalid_approvers', { problem: named.problem })
  }
  const approvers = named?.approvers
  return (call) => {
    const { requestHash: unsigned, request } = call
    const requestHash =
      approvers === undefined ? unsigned : requestHashOf(builtInEffects.wait, request, approvers)
    return { kind: 'wait', reason, timeoutMs, approvers, ...call, requestHash }
  }
}
