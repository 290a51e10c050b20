import type { Json } from '../../core/index.js'
import type { AisPlanNode } from '../plan/plan.js'
import type { ReadyNode } from '../readiness/readiness.js'
import { compareDecimals } from '../type/check.js'
import type { Constraints } from './constraints.js'
import type { PolicyHit } from './hit.js'

/** A node that is judged, and where what speaks against it is collected. */
export interface Judged {
  readonly node: AisPlanNode
  readonly ready: ReadyNode
  readonly constraints: Constraints
  /** Whether its tags call it an approval. */
  readonly saysApproval: boolean
  readonly hits: PolicyHit[]
}

/** Measures of an action that its bounds are about. */
type Measure = 'slippage_bps' | 'price_impact_bps' | 'spend' | 'approval' | 'health_factor_after'

/** What runs of definitions before rules 3 are held to: what the action says of itself. */
export function declaredHits(judged: Judged): void {
  const { constraints, hits, saysApproval: isApproval } = judged
  const bounds: readonly (readonly [Measure, Json | undefined, 1 | -1])[] = [
    ['slippage_bps', constraints.max_slippage_bps, 1],
    ['price_impact_bps', constraints.max_price_impact_bps, 1],
    ['spend', isApproval ? undefined : plainBound(constraints.max_spend), 1],
    ['approval', isApproval ? plainBound(constraints.max_approval) : undefined, 1],
    ['health_factor_after', constraints.min_health_factor_after, -1]
  ]
  for (const [measure, bound, broken] of bounds) {
    if (bound === undefined) continue
    compareHits(judged, { measure, bound, broken, value: measured(judged, measure) })
  }
  if (isApproval) multiplierHits(judged, measured(judged, 'approval'))
  if (constraints.allow_unlimited_approval === false && saysUnlimited(judged)) {
    hits.push(unlimitedHit)
  }
}

/**
 * What an action says of itself makes a verdict tighter. Slippage, price impact and the health
 * of a position are in no call, so an action has to tell them where they could change.
 */
export function tighteningHits(
  judged: Judged,
  { isSwap, isDecoded }: { readonly isSwap: boolean; readonly isDecoded: boolean }
): void {
  const { constraints } = judged
  const untold: readonly (readonly [Measure, Json | undefined, 1 | -1])[] = [
    ['slippage_bps', constraints.max_slippage_bps, 1],
    ['price_impact_bps', constraints.max_price_impact_bps, 1],
    ['health_factor_after', constraints.min_health_factor_after, -1]
  ]
  for (const [measure, bound, broken] of untold) {
    if (bound === undefined) continue
    const value = said(judged, measure)
    const isConcerned = !isDecoded || (isSwap && measure !== 'health_factor_after')
    if (value !== undefined || isConcerned) compareHits(judged, { measure, bound, broken, value })
  }
  for (const measure of ['spend', 'approval'] as const) {
    const bound = plainBound(constraints[`max_${measure}`])
    const value = said(judged, measure)
    if (bound !== undefined && value !== undefined) {
      compareHits(judged, { measure, bound, broken: 1, value })
    }
  }
}

function plainBound(bound: Constraints['max_spend']): string | number | undefined {
  return typeof bound === 'object' ? undefined : bound
}

function compareHits(
  { hits }: Judged,
  rule: {
    readonly measure: Measure
    readonly bound: Json
    readonly broken: 1 | -1
    readonly value: Json | undefined
  }
): void {
  const { measure, bound, broken, value } = rule
  const order = value === undefined ? undefined : compareDecimals(value, bound)
  if (order === undefined) {
    const message = `${measure} is bounded by ${String(bound)}, but the action does not tell it`
    hits.push({ reason: 'preview_missing', message, isHard: true })
  } else if (order === broken) {
    const message = `${measure} is ${String(value)}, beyond ${String(bound)}`
    hits.push({ reason: 'constraint', message, isHard: true })
  }
}

/** What is approved, by what the action says that it will spend of it. */
export function multiplierHits(judged: Judged, approval: Json | undefined): void {
  const { constraints, hits } = judged
  const { max_approval_multiplier: multiplier } = constraints
  if (multiplier === undefined) return
  const spend = said(judged, 'spend')
  if (!isWhole(approval) || !isWhole(spend)) {
    const message =
      `an approval is bounded by ${multiplier} times what is spent, ` +
      'but the action does not tell both approval and spend'
    hits.push({ reason: 'preview_missing', message, isHard: true })
    return
  }
  const [whole = '', fraction = ''] = multiplier.split('.')
  const most = BigInt(spend) * BigInt(whole + fraction)
  if (BigInt(approval) * 10n ** BigInt(fraction.length) <= most) return
  const message = `approval is ${approval}, beyond ${multiplier} times the ${spend} to spend`
  hits.push({ reason: 'constraint', message, isHard: true })
}

function isWhole(value: Json | undefined): value is string {
  return typeof value === 'string' && /^[0-9]{1,78}$/.test(value)
}

/** The calculated field or the parameter of a measure's name. */
export function said({ ready }: Judged, measure: Measure): Json | undefined {
  const { calculated, params } = ready
  return calculated[measure] ?? params[measure]
}

/**
 * A measure in atomic units or basis points: what is called so; for `spend` and `approval` also the
 * one whole-number parameter of the action that is called `amount`.
 */
function measured(judged: Judged, measure: Measure): Json | undefined {
  const direct = said(judged, measure)
  if (direct !== undefined) return direct
  if (measure !== 'spend' && measure !== 'approval') return undefined
  const named = judged.node.params.find(({ name }) => name === 'amount')
  return named?.type.startsWith('uint') === true ? judged.ready.params['amount'] : undefined
}

const maxUint256 = String(2n ** 256n - 1n)

export const unlimitedHit: PolicyHit = {
  reason: 'constraint',
  message: 'the approval is without limit, which the policy forbids',
  isHard: true
}

/** Whether an action says that it approves without limit. */
export function saysUnlimited(judged: Judged): boolean {
  if (!judged.saysApproval) return false
  const amounts = [judged.ready.params['amount'], measured(judged, 'approval')]
  return amounts.some((amount) => amount === 'max' || amount === maxUint256)
}
