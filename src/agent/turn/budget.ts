import { type FlowPosition, noSpending, type Spent, spentBy } from '../position/flow-position.js'
import type { BoundAgent, Budget } from './agent.js'
import type { TurnRules } from './rules.js'
import type { AnsweredTurn } from './turn-result.js'
import { dollarText, picoDollars, priceOf } from './usd.js'

/** A bound that was reached, as it stands in the failure `budget_exceeded` (semantics.md A6). */
export type BudgetBreach = {
  readonly budget: keyof Budget | 'sessionMs' | 'maxCostUsd (unknown cost)'
  readonly of: 'agent' | 'flow'
  readonly limit: string | number
  readonly used: string | number
}

/** What a turn has used, with what turns without an answer may have used before it. */
export type UsedTurn = Pick<AnsweredTurn, 'usage' | 'workMs' | 'broken'>

interface Tokens {
  readonly inputTokens: number
  readonly outputTokens: number
}

const nothingBroken: Tokens = { inputTokens: 0, outputTokens: 0 }

function tokensOf({ inputTokens, outputTokens }: Tokens): number {
  return inputTokens + outputTokens
}

interface Scope {
  readonly of: 'agent' | 'flow'
  readonly budget: Budget
  readonly spent: Spent
}

/** Milliseconds that count for the time budgets of an agent, and of its flow. */
export interface ElapsedMs {
  readonly agent: number
  readonly flow: number
}

/** What has been used of the time budgets: work, or by the earlier rules all time since. */
export function elapsedIn(
  position: FlowPosition,
  { agentId }: BoundAgent,
  options: { readonly now: number; readonly rules: TurnRules }
): ElapsedMs {
  const own = spentBy(position, agentId)
  if (options.rules.countsWork) {
    const all = Object.values(position.spent).map(({ workMs = 0 }) => workMs)
    return { agent: own?.workMs ?? 0, flow: all.reduce((a, b) => a + b, 0) }
  }
  const since = (startedAtMs: number | null | undefined) =>
    options.now - (startedAtMs ?? options.now)
  return { agent: since(own?.startedAtMs), flow: since(position.startedAtMs) }
}

/** Whether anything bounds the time of an agent or its flow. */
export function isTimed({ sessionMs, budgets }: BoundAgent, flowBudget: Budget): boolean {
  const bounds = [sessionMs, budgets.maxWallClockMs, flowBudget.maxWallClockMs]
  return bounds.some((bound) => bound !== undefined)
}

/** Why another turn may not begin; undefined when it may. */
export function breachBefore(
  agent: BoundAgent,
  flowBudget: Budget,
  position: FlowPosition,
  elapsed: ElapsedMs
): BudgetBreach | undefined {
  const { sessionMs } = agent
  if (sessionMs !== undefined && elapsed.agent >= sessionMs) {
    return { budget: 'sessionMs', of: 'agent', limit: sessionMs, used: elapsed.agent }
  }
  for (const { of, budget, spent } of scopesOf(agent, flowBudget, position)) {
    const { maxTokens, maxSteps, maxWallClockMs, maxCostUsd } = budget
    if (maxSteps !== undefined && spent.turns >= maxSteps) {
      return { budget: 'maxSteps', of, limit: maxSteps, used: spent.turns }
    }
    if (maxTokens !== undefined && spent.totalTokens >= maxTokens) {
      return { budget: 'maxTokens', of, limit: maxTokens, used: spent.totalTokens }
    }
    if (maxWallClockMs !== undefined && elapsed[of] >= maxWallClockMs) {
      return { budget: 'maxWallClockMs', of, limit: maxWallClockMs, used: elapsed[of] }
    }
    if (maxCostUsd !== undefined && pico(spent.costUsd) >= pico(maxCostUsd)) {
      return { budget: 'maxCostUsd', of, limit: maxCostUsd, used: spent.costUsd }
    }
  }
  return undefined
}

/** What a turn that was made has gone beyond; undefined when it kept within bounds. */
export function breachAfter(
  agent: BoundAgent,
  flowBudget: Budget,
  position: FlowPosition,
  used: UsedTurn
): BudgetBreach | undefined {
  const isCostKnown = costOf(agent, used) !== undefined
  for (const { of, budget, spent } of scopesOf(agent, flowBudget, position)) {
    const { maxTokens, maxCostUsd } = budget
    if (maxTokens !== undefined && spent.totalTokens > maxTokens) {
      return { budget: 'maxTokens', of, limit: maxTokens, used: spent.totalTokens }
    }
    if (maxCostUsd === undefined) continue
    if (!isCostKnown) {
      return { budget: 'maxCostUsd (unknown cost)', of, limit: maxCostUsd, used: spent.costUsd }
    }
    if (pico(spent.costUsd) > pico(maxCostUsd)) {
      return { budget: 'maxCostUsd', of, limit: maxCostUsd, used: spent.costUsd }
    }
  }
  return undefined
}

/**
 * Milliseconds that the next turn may take: the agent's own bound, and what is left of its session
 * and of the time budgets. At least 1, as {@link breachBefore} has let the turn begin.
 */
export function timeLeftMs(agent: BoundAgent, flowBudget: Budget, elapsed: ElapsedMs): number {
  const left = [
    agent.turnMs,
    ...leftOf(agent.sessionMs, elapsed.agent),
    ...leftOf(agent.budgets.maxWallClockMs, elapsed.agent),
    ...leftOf(flowBudget.maxWallClockMs, elapsed.flow)
  ]
  return Math.max(1, Math.min(...left))
}

function leftOf(limit: number | undefined, used: number): readonly number[] {
  return limit === undefined ? [] : [limit - used]
}

/** Tokens that the next answer may have at most. */
export function tokensLeft(
  agent: BoundAgent,
  flowBudget: Budget,
  position: FlowPosition
): number | undefined {
  const left = scopesOf(agent, flowBudget, position).flatMap(({ budget, spent }) =>
    budget.maxTokens === undefined ? [] : [budget.maxTokens - spent.totalTokens]
  )
  const own = agent.maxTokens === undefined ? [] : [agent.maxTokens]
  const all = [...own, ...left]
  return all.length === 0 ? undefined : Math.min(...all)
}

/** The walk with a turn's usage added. */
export function spend(
  position: FlowPosition,
  agent: BoundAgent,
  used: UsedTurn,
  now: number
): FlowPosition {
  const { usage, workMs, broken = nothingBroken } = used
  const before = spentBy(position, agent.agentId) ?? { ...noSpending, startedAtMs: now }
  const spent: Spent = {
    ...before,
    turns: before.turns + 1,
    inputTokens: before.inputTokens + usage.inputTokens + broken.inputTokens,
    outputTokens: before.outputTokens + usage.outputTokens + broken.outputTokens,
    totalTokens: before.totalTokens + usage.totalTokens + tokensOf(broken),
    costUsd: costAfter(before.costUsd, costOf(agent, used)),
    ...(workMs === undefined ? {} : { workMs: (before.workMs ?? 0) + workMs })
  }
  return {
    ...position,
    startedAtMs: position.startedAtMs ?? now,
    spent: { ...position.spent, [agent.agentId]: spent }
  }
}

/** The bounds that there are, with what was used of each. */
function scopesOf(agent: BoundAgent, flowBudget: Budget, position: FlowPosition): readonly Scope[] {
  const scopes: Scope[] = []
  if (!isEmpty(agent.budgets)) {
    const spent = spentBy(position, agent.agentId) ?? noSpending
    scopes.push({ of: 'agent', budget: agent.budgets, spent })
  }
  if (!isEmpty(flowBudget)) {
    const spent = Object.values(position.spent).reduce(sum, noSpending)
    scopes.push({ of: 'flow', budget: flowBudget, spent })
  }
  return scopes
}

function isEmpty(budget: Budget): boolean {
  return Object.keys(budget).length === 0
}

function costAfter(before: string, cost: bigint | undefined): string {
  return cost === undefined || cost === 0n ? before : dollarText(pico(before) + cost)
}

function sum(a: Spent, b: Spent): Spent {
  return {
    ...a,
    turns: a.turns + b.turns,
    totalTokens: a.totalTokens + b.totalTokens,
    costUsd: dollarText(pico(a.costUsd) + pico(b.costUsd))
  }
}

/** What the provider says, else by the agent's prices; undefined when neither tells. */
function costOf(agent: BoundAgent, { usage, broken }: UsedTurn): bigint | undefined {
  const own = usage.costUsd === undefined ? priced(agent, usage) : picoDollars(usage.costUsd)
  if (broken === undefined || own === undefined) return own
  const lost = priced(agent, broken)
  return lost === undefined ? undefined : own + lost
}

function priced(agent: BoundAgent, usage: Tokens): bigint | undefined {
  if (agent.pricing === undefined) return undefined
  const input = priceOf(usage.inputTokens, agent.pricing.inputUsdPerMillion)
  const output = priceOf(usage.outputTokens, agent.pricing.outputUsdPerMillion)
  return input === undefined || output === undefined ? undefined : input + output
}

function pico(text: string): bigint {
  return picoDollars(text) ?? 0n
}
