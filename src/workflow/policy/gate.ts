import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { isRead } from '../document/execution.js'
import type { HardConstraints } from '../document/protocol.js'
import type { AisPlanNode } from '../plan/plan.js'
import { chainFits } from '../plan/select.js'
import type { ReadyNode } from '../readiness/readiness.js'
import { compareDecimals } from '../type/check.js'
import { type Policy, tighterConstraints, tokenKey } from './policy.js'

/** Whether an action proceeds, asks, or is refused (W12). */
export interface Verdict {
  readonly kind: 'ok' | 'confirm' | 'block'
  /** Why it asks or is refused; stable labels with their facts. */
  readonly hits: readonly PolicyHit[]
  readonly riskLevel: number
}

export interface PolicyHit {
  readonly reason:
    | 'risk_level'
    | 'approval_required'
    | 'token_not_listed'
    | 'plugin_not_enabled'
    | 'constraint'
    | 'preview_missing'
  readonly message: string
  /** Refused, not only asked about. */
  readonly isHard: boolean
}

/** Measures of an action that its bounds are about. */
type Measure = 'slippage_bps' | 'price_impact_bps' | 'spend' | 'approval' | 'health_factor_after'

const builtIn: ReadonlySet<string> = new Set([
  'evm_call',
  'evm_read',
  'evm_multiread',
  'evm_multicall',
  'evm_rpc',
  'solana_instruction',
  'solana_read'
])

/** What a policy says about a node that is ready. Reads are only held to the list of plugins. */
export function policyVerdict(node: AisPlanNode, ready: ReadyNode, policy: Policy): Verdict {
  const hits: PolicyHit[] = []
  pluginHits(node, policy, hits)
  const rule = actionRule(node, policy)
  const riskLevel = Math.max(node.risk?.level ?? 0, rule?.riskLevel ?? 0)
  if (node.risk !== null && !isRead(node.execution.type)) {
    tokenHits(ready.params, policy, hits)
    const own = tighterConstraints(policy.constraints, node.risk.constraints)
    const constraints = tighterConstraints(own, rule?.constraints ?? {})
    constraintHits(node, ready, constraints, hits)
    riskHits(riskLevel, policy, rule?.requireApproval === true, hits)
  }
  const isBlocked = hits.some(({ isHard }) => isHard)
  const kind = isBlocked ? 'block' : hits.length > 0 ? 'confirm' : 'ok'
  return { kind, hits, riskLevel }
}

function actionRule(node: AisPlanNode, policy: Policy): Policy['actions'][string] | undefined {
  const [protocol = ''] = node.source.protocol.split('@')
  const name = `${protocol}.${node.source.name}`
  return Object.hasOwn(policy.actions, name) ? policy.actions[name] : undefined
}

function riskHits(level: number, policy: Policy, isRequired: boolean, hits: PolicyHit[]): void {
  if (isRequired) {
    const message = 'the policy wants an approval for this action'
    hits.push({ reason: 'approval_required', message, isHard: false })
  }
  const { autoExecuteMaxRisk, requireApprovalMinRisk } = policy
  if (level <= autoExecuteMaxRisk && level < requireApprovalMinRisk) return
  const message =
    level >= requireApprovalMinRisk
      ? `its risk is ${level}; from ${requireApprovalMinRisk} on an approval is needed`
      : `its risk is ${level}; up to ${autoExecuteMaxRisk} goes without asking`
  hits.push({ reason: 'risk_level', message, isHard: false })
}

function pluginHits({ execution, chain }: AisPlanNode, policy: Policy, hits: PolicyHit[]): void {
  if (policy.plugins === null || builtIn.has(execution.type)) return
  const isEnabled = policy.plugins.some(
    ({ type, chains }) => type === execution.type && chainFits(chain, chains ?? undefined)
  )
  if (isEnabled) return
  const message = `the execution type ${execution.type} is not enabled on ${chain}`
  hits.push({ reason: 'plugin_not_enabled', message, isHard: true })
}

function tokenHits(params: JsonObject, { tokens }: Policy, hits: PolicyHit[]): void {
  if (tokens === null) return
  for (const [name, value] of Object.entries(params)) {
    if (!isJsonObject(value)) continue
    const { chain_id: chain, address } = value
    if (typeof chain !== 'string' || typeof address !== 'string') continue
    if (tokens.allowed.includes(tokenKey(chain, address))) continue
    hits.push({
      reason: 'token_not_listed',
      message: `${name} is ${address} on ${chain}, which is not in the list of tokens`,
      isHard: tokens.resolution === 'allowlist'
    })
  }
}

function constraintHits(
  node: AisPlanNode,
  ready: ReadyNode,
  constraints: HardConstraints,
  hits: PolicyHit[]
): void {
  const isApproval = node.risk?.tags.includes('approval') === true
  const bounds: readonly (readonly [Measure, Json | undefined, 1 | -1])[] = [
    ['slippage_bps', constraints.max_slippage_bps, 1],
    ['price_impact_bps', constraints.max_price_impact_bps, 1],
    ['spend', isApproval ? undefined : constraints.max_spend, 1],
    ['approval', isApproval ? constraints.max_approval : undefined, 1],
    ['health_factor_after', constraints.min_health_factor_after, -1]
  ]
  for (const [measure, bound, broken] of bounds) {
    if (bound !== undefined) measureHits(node, ready, { measure, bound, broken }, hits)
  }
  if (isApproval && constraints.allow_unlimited_approval === false && isUnlimited(node, ready)) {
    const message = 'the approval is without limit, which the policy forbids'
    hits.push({ reason: 'constraint', message, isHard: true })
  }
}

function measureHits(
  node: AisPlanNode,
  ready: ReadyNode,
  rule: { readonly measure: Measure; readonly bound: Json; readonly broken: 1 | -1 },
  hits: PolicyHit[]
): void {
  const { measure, bound, broken } = rule
  const value = measured(node, ready, measure)
  const order = value === undefined ? undefined : compareDecimals(value, bound)
  if (order === undefined) {
    const message = `${measure} is bounded by ${String(bound)}, but the action does not tell it`
    hits.push({ reason: 'preview_missing', message, isHard: true })
  } else if (order === broken) {
    const message = `${measure} is ${String(value)}, beyond ${String(bound)}`
    hits.push({ reason: 'constraint', message, isHard: true })
  }
}

/**
 * A measure of an action in atomic units or basis points: the calculated field of its name, or the
 * parameter; for `spend` and `approval` also the one whole-number parameter or field of the action
 * that is called `amount`.
 */
function measured(node: AisPlanNode, ready: ReadyNode, measure: Measure): Json | undefined {
  const { calculated, params } = ready
  const direct = calculated[measure] ?? params[measure]
  if (direct !== undefined) return direct
  if (measure !== 'spend' && measure !== 'approval') return undefined
  const named = node.params.find(({ name }) => name === 'amount')
  return named?.type.startsWith('uint') === true ? params['amount'] : undefined
}

const maxUint256 = String(2n ** 256n - 1n)

function isUnlimited(node: AisPlanNode, ready: ReadyNode): boolean {
  const amounts = [ready.params['amount'], measured(node, ready, 'approval')]
  return amounts.some((amount) => amount === 'max' || amount === maxUint256)
}
