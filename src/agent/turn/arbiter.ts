import type { SwitchMode } from '../flow/schema.js'
import type { DelegationPolicy } from './agent.js'

/** What the arbiter answered, with each rule it looked at, in order: part of the result. */
export type DelegationRuling = {
  readonly mode: SwitchMode
  readonly from: string
  readonly target: string
  readonly decision: 'approved' | 'rejected'
  readonly trace: readonly { readonly rule: DelegationRule; readonly passed: boolean }[]
}

export type DelegationRule =
  | 'mode_allowed'
  | 'target_allowed'
  | 'target_exists'
  | 'delegations_left'

/**
 * Whether an agent may hand a task on. The first rule that does not pass rejects; a flow's own
 * wish needs no mode (AgentsFlow's order).
 */
export function arbitrate(options: {
  readonly mode: SwitchMode
  readonly from: string
  readonly target: string
  readonly policy: DelegationPolicy
  readonly known: ReadonlySet<string>
  /** Delegations that this agent has made in the run. */
  readonly made: number
}): DelegationRuling {
  const { mode, from, target, policy, known, made } = options
  const rules: readonly (readonly [DelegationRule, boolean])[] = [
    ['mode_allowed', mode === 'flow-forced' || policy.switchModes.includes(mode)],
    ['target_allowed', policy.allowedAgents.length === 0 || policy.allowedAgents.includes(target)],
    ['target_exists', target !== from && known.has(target)],
    ['delegations_left', policy.maxDelegations > made]
  ]
  const trace: { rule: DelegationRule; passed: boolean }[] = []
  for (const [rule, passed] of rules) {
    trace.push({ rule, passed })
    if (!passed) return { mode, from, target, decision: 'rejected', trace }
  }
  return { mode, from, target, decision: 'approved', trace }
}
