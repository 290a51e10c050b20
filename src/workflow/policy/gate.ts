import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { ChainCall } from '../../executor/index.js'
import { isRead } from '../document/execution.js'
import type { AisPlanNode } from '../plan/plan.js'
import { chainFits } from '../plan/select.js'
import type { ReadyNode } from '../readiness/readiness.js'
import { type Budget, budgetOf, maxFeeOf, measuredHits, undecodedText } from './bounds.js'
import { tighterConstraints } from './constraints.js'
import { declaredHits } from './declared.js'
import { type Measured, riskOf } from './effect.js'
import type { PolicyHit } from './hit.js'
import { measureCall } from './measure.js'
import { type Policy, tokenKey } from './policy.js'

/** Whether an action proceeds, asks, or is refused (W12). */
export interface Verdict {
  readonly kind: 'ok' | 'confirm' | 'block'
  /** Why it asks or is refused; stable labels with their facts. */
  readonly hits: readonly PolicyHit[]
  readonly riskLevel: number
  /** What a write does by its call; absent for reads. */
  readonly measured?: Measured
  /** What it takes from what its run may spend, where that is bounded. */
  readonly budget?: Budget
  /** The most that its transaction may cost, where that is bounded. */
  readonly maxFee?: string
}

const builtIn: ReadonlySet<string> = new Set([
  'evm_call',
  'evm_read',
  'evm_multiread',
  'evm_multicall',
  'evm_rpc',
  'solana_instruction',
  'solana_read'
])

export interface VerdictOptions {
  /** False: by what the action says of itself alone, as runs begun by rules before 3 are judged. */
  readonly isMeasured?: boolean
  /** How often the action is executed, this time included. */
  readonly times?: number
  /** What is sent for an execution of another type than its chain's own. */
  readonly call?: ChainCall | undefined
  /** Whether executors hold Solana's fees, too; not those of runs begun before that. */
  readonly holdsSolana?: boolean
}

/** Whether an execution is of a plugin, of which only its executor knows what it sends. */
export function isPlugin(type: string): boolean {
  return !builtIn.has(type)
}

/** What a policy says about a node that is ready. Reads are only held to the list of plugins. */
export function policyVerdict(
  node: AisPlanNode,
  ready: ReadyNode,
  policy: Policy,
  { isMeasured = true, times = 1, call, holdsSolana = true }: VerdictOptions = {}
): Verdict {
  const hits: PolicyHit[] = []
  pluginHits(node, policy, hits)
  const rule = actionRule(node, policy)
  const declared = Math.max(node.risk?.level ?? 0, rule?.riskLevel ?? 0)
  if (node.risk === null || isRead(node.execution.type)) {
    return verdictOf(hits, { riskLevel: declared })
  }
  const tags = [...node.risk.tags, ...(rule?.riskTags ?? [])]
  const sent = call ?? { execution: ready.execution }
  const measured = isMeasured ? measureCall(node.chain, sent) : undefined
  const own = tighterConstraints(policy.constraints, node.risk.constraints)
  const ruled = tighterConstraints(own, rule?.constraints ?? {})
  const constraints = tighterConstraints(ruled, ready.constraints ?? {})
  const judged = { node, ready, constraints, saysApproval: tags.includes('approval'), hits }
  tokenHits(tokensIn(node.chain, ready.params, measured), policy, hits)
  if (measured === undefined) declaredHits(judged)
  else {
    const sentType = call?.execution.type
    measuredHits(judged, measured, { times, sentType, holdsSolana })
  }
  const riskLevel = measured === undefined ? declared : Math.max(declared, riskOf(measured))
  const isTagged = tags.some((tag) => policy.approvalTags?.includes(tag) === true)
  const asks = riskHits(riskLevel, policy, isTagged || rule?.requireApproval === true, hits)
  const unclear = measured === undefined ? undefined : undecodedText(measured)
  if (asks && unclear !== undefined) {
    hits.push({ reason: 'undecoded', message: unclear, isHard: false })
  }
  if (measured === undefined) return verdictOf(hits, { riskLevel })
  const budget = budgetOf(judged, measured)
  const maxFee = maxFeeOf(judged, measured)
  return verdictOf(hits, {
    riskLevel,
    measured,
    ...(budget === undefined ? {} : { budget }),
    ...(maxFee === undefined ? {} : { maxFee })
  })
}

function verdictOf(hits: readonly PolicyHit[], found: Omit<Verdict, 'kind' | 'hits'>): Verdict {
  const isBlocked = hits.some(({ isHard }) => isHard)
  const kind = isBlocked ? 'block' : hits.length > 0 ? 'confirm' : 'ok'
  return { kind, hits, ...found }
}

function actionRule(node: AisPlanNode, policy: Policy): Policy['actions'][string] | undefined {
  const { protocol, name: action } = node.source
  const at = protocol.indexOf('@')
  const name = `${at < 0 ? protocol : protocol.slice(0, at)}.${action}`
  return Object.hasOwn(policy.actions, name) ? policy.actions[name] : undefined
}

/** Whether the level is one that asks. */
function riskHits(level: number, policy: Policy, isRequired: boolean, hits: PolicyHit[]): boolean {
  if (isRequired) {
    const message = 'the policy wants an approval for this action'
    hits.push({ reason: 'approval_required', message, isHard: false })
  }
  const { autoExecuteMaxRisk, requireApprovalMinRisk } = policy
  if (level <= autoExecuteMaxRisk && level < requireApprovalMinRisk) return false
  const message =
    level >= requireApprovalMinRisk
      ? `its risk is ${level}; from ${requireApprovalMinRisk} on an approval is needed`
      : `its risk is ${level}; up to ${autoExecuteMaxRisk} goes without asking`
  hits.push({ reason: 'risk_level', message, isHard: false })
  return true
}

function pluginHits({ execution, chain }: AisPlanNode, policy: Policy, hits: PolicyHit[]): void {
  if (policy.plugins === null || !isPlugin(execution.type)) return
  const isEnabled = policy.plugins.some(
    ({ type, chains }) => type === execution.type && chainFits(chain, chains ?? undefined)
  )
  if (isEnabled) return
  const message = `the execution type ${execution.type} is not enabled on ${chain}`
  hits.push({ reason: 'plugin_not_enabled', message, isHard: true })
}

interface NamedToken {
  readonly name: string
  readonly chain: string
  readonly address: string
  /** As an argument has them. */
  readonly decimals?: Json | undefined
}

/** Tokens that an action is given, and those that its call moves. */
function tokensIn(
  chain: string,
  params: JsonObject,
  measured: Measured | undefined
): readonly NamedToken[] {
  const tokens: NamedToken[] = []
  for (const [name, value] of Object.entries(params)) {
    if (!isJsonObject(value)) continue
    const { chain_id: chainId, address, decimals } = value
    if (typeof chainId !== 'string' || typeof address !== 'string') continue
    tokens.push({ name, chain: chainId, address, decimals })
  }
  const named = new Set(tokens.map((one) => tokenKey(one.chain, one.address)))
  for (const effect of measured?.effects ?? []) {
    const [, address] = 'asset' in effect ? effect.asset.slice(chain.length).split(':') : []
    if (address === undefined || named.has(tokenKey(chain, address))) continue
    named.add(tokenKey(chain, address))
    tokens.push({ name: `the ${effect.kind}`, chain, address })
  }
  return tokens
}

function tokenHits(tokens: readonly NamedToken[], policy: Policy, hits: PolicyHit[]): void {
  const { tokens: list } = policy
  if (list === null) return
  for (const { name, chain, address, decimals } of tokens) {
    const key = tokenKey(chain, address)
    const listed = Object.hasOwn(list.decimals ?? {}, key) ? list.decimals?.[key] : undefined
    if (listed !== undefined && decimals !== undefined && decimals !== listed) {
      const said = `${name} is said to have ${String(decimals)} decimals`
      const message = `${said}, but the list of tokens says ${listed}`
      hits.push({ reason: 'constraint', message, isHard: true })
    }
    if (list.allowed.includes(key)) continue
    hits.push({
      reason: 'token_not_listed',
      message: `${name} is ${address} on ${chain}, which is not in the list of tokens`,
      isHard: list.resolution === 'allowlist'
    })
  }
}
