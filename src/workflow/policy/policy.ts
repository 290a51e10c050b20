import { approversIn } from '../../block/index.js'
import {
  type Approvers,
  type Hash,
  hashJson,
  isJsonObject,
  type Json,
  workflowError
} from '../../core/index.js'
import { stricterApprovers } from '../../identity/index.js'
import type { FlowDocument } from '../document/flow.js'
import { type PackDocument, packPolicy, tokenModeOf } from '../document/pack.js'
import { type Constraints, tighterConstraints } from './constraints.js'

/** What a run may do without asking, and what it may not do at all (W12). Plain JSON. */
export interface Policy {
  /** Actions up to this risk are executed without asking; 0: none. */
  readonly autoExecuteMaxRisk: number
  /** Actions from this risk on always ask; 6: none. */
  readonly requireApprovalMinRisk: number
  /** Who has to sign where the policy asks (K13); absent: any answer of the owner does. */
  readonly approvers?: Approvers
  readonly constraints: Constraints
  /** Null: every token. */
  readonly tokens: TokenPolicy | null
  /** Providers that may make choices, by kind of list; null: every one. */
  readonly detectProviders: readonly ProviderRule[] | null
  readonly quoteProviders: readonly ProviderRule[] | null
  /** Providers that may choose a path; absent: every one. */
  readonly pathProviders?: readonly string[]
  /** Tags of risks that always ask. */
  readonly approvalTags?: readonly string[]
  /** Execution types beyond those of AIS; null: every one that is registered. */
  readonly plugins: readonly PluginRule[] | null
  /** By `protocol.action`. */
  readonly actions: Readonly<Record<string, ActionRule>>
  /** `name@version` of the packs that went in, in order. */
  readonly packs: readonly string[]
}

export interface TokenPolicy {
  /** `ask`: a token that is not listed needs approval; `allowlist`: it is refused. */
  readonly resolution: 'allowlist' | 'ask'
  /** `chain address`, lower case. */
  readonly allowed: readonly string[]
  /** Decimals by allowed token, where the list says them. */
  readonly decimals?: Readonly<Record<string, number>>
}

export interface ProviderRule {
  readonly provider: string
  readonly kinds: readonly string[] | null
  readonly chains: readonly string[] | null
  readonly priority: number
  /** What it is given to choose among, where the document says nothing. */
  readonly candidates?: readonly Json[]
  readonly rule?: string
}

export interface PluginRule {
  readonly type: string
  readonly chains: readonly string[] | null
}

export interface ActionRule {
  readonly riskLevel: number
  readonly riskTags?: readonly string[]
  readonly requireApproval: boolean
  readonly constraints: Constraints
}

/** Without a pack: low risks go, the rest asks. */
export const defaultPolicy: Policy = {
  autoExecuteMaxRisk: 2,
  requireApprovalMinRisk: 3,
  constraints: {},
  tokens: null,
  detectProviders: null,
  quoteProviders: null,
  plugins: null,
  actions: {},
  packs: []
}

/** SHA-256 of a policy; approvals are bound to it (W7). */
export function policyHash(policy: Policy): Hash {
  return hashJson(policy)
}

/** The packs whose lists of approvers do not fit, as a problem for people; undefined: all fit. */
export function unfitPacks(packs: readonly PackDocument[]): string | undefined {
  let held: Approvers | undefined
  for (const { meta, policy } of packs) {
    const { approvers } = approversIn(policy?.approvals?.approvers)
    const found = stricterApprovers(held, approvers)
    if (found === null) {
      const problem = 'name approvers, and neither list is the stricter'
      return `the pack ${meta.name} and one before it ${problem}`
    }
    held = found
  }
  return undefined
}

/**
 * A policy with a pack on top: every field becomes tighter or stays (W12). Throws
 * `workflow.invalid_document` where two lists of approvers do not fit ({@link unfitPacks}).
 */
export function tightened(base: Policy, pack: PackDocument): Policy {
  const { policy, token_policy: tokens, providers, plugins, overrides } = pack
  const approvals = policy?.approvals
  const own = approversIn(approvals?.approvers)
  const approvers = stricterApprovers(base.approvers, own.approvers)
  if (approvers === null) {
    const problem = `${pack.meta.name} names approvers that fit none before it`
    throw workflowError('workflow.invalid_document', { kind: 'pack', problem })
  }
  const plugin = plugins?.execution?.enabled?.map(
    ({ type, chains }): PluginRule => ({ type, chains: chains ?? null })
  )
  const bounds = tighterConstraints(
    policy?.hard_constraints_defaults ?? {},
    policy?.hard_constraints ?? {}
  )
  const paths = both(base.pathProviders, providers?.routing)
  const tags = [...(base.approvalTags ?? []), ...(policy?.approval_required ?? [])]
  return {
    autoExecuteMaxRisk: Math.min(
      base.autoExecuteMaxRisk,
      policy?.risk_threshold ?? base.autoExecuteMaxRisk,
      approvals?.auto_execute_max_risk_level ?? base.autoExecuteMaxRisk
    ),
    requireApprovalMinRisk: Math.min(
      base.requireApprovalMinRisk,
      approvals?.require_approval_min_risk_level ?? base.requireApprovalMinRisk
    ),
    ...(approvers === undefined ? {} : { approvers }),
    constraints: tighterConstraints(base.constraints, bounds),
    tokens: tokens === undefined ? base.tokens : tighterTokens(base.tokens, tokens),
    detectProviders: bothLists(base.detectProviders, providers?.detect?.enabled?.map(ruleOf)),
    quoteProviders: bothLists(base.quoteProviders, providers?.quote?.enabled?.map(ruleOf)),
    ...(paths === undefined ? {} : { pathProviders: paths }),
    ...(tags.length === 0 ? {} : { approvalTags: [...new Set(tags)].sort() }),
    plugins: plugin === undefined ? base.plugins : bothPlugins(base.plugins, plugin),
    actions: tighterActions(base.actions, overrides?.actions ?? {}),
    packs: [...base.packs, `${pack.meta.name}@${pack.meta.version}`]
  }
}

/**
 * A policy with what a workflow asks of itself on top (`policy.approvals`, `hard_constraints`).
 * What is no bound there is an issue of its plan, and is left out here.
 */
export function underFlow(base: Policy, { policy = {} }: FlowDocument): Policy {
  const own = flowPolicy(policy)
  if (own === undefined || !own.success) return base
  const { approvals, hard_constraints: bounds } = own.data
  const auto = approvals?.auto_execute_max_risk_level ?? base.autoExecuteMaxRisk
  const ask = approvals?.require_approval_min_risk_level ?? base.requireApprovalMinRisk
  return {
    ...base,
    autoExecuteMaxRisk: Math.min(base.autoExecuteMaxRisk, auto),
    requireApprovalMinRisk: Math.min(base.requireApprovalMinRisk, ask),
    constraints: tighterConstraints(base.constraints, bounds ?? {})
  }
}

/** What a workflow's `policy` says in the words of packs; undefined: nothing. */
export function flowPolicy(policy: NonNullable<FlowDocument['policy']>) {
  const words = ['approvals', 'hard_constraints'].filter((name) => isJsonObject(policy[name]))
  if (words.length === 0) return undefined
  return packPolicy.safeParse(Object.fromEntries(words.map((name) => [name, policy[name]])))
}

function tighterTokens(
  base: TokenPolicy | null,
  tokens: NonNullable<PackDocument['token_policy']>
): TokenPolicy | null {
  const resolution = tokenModeOf(tokens)
  const { allowlist = [] } = tokens
  // Without a list there is nothing to hold tokens to, unless the pack wants one.
  const isUnsaid = tokens.allowlist === undefined && resolution !== 'allowlist'
  if (resolution === 'any' || isUnsaid) return base
  const allowed = allowlist.map(({ chain, address }) => tokenKey(chain, address))
  const added = new Set(allowed)
  const own = allowlist.flatMap(({ chain, address, decimals }) =>
    decimals === undefined ? [] : [[tokenKey(chain, address), decimals] as const]
  )
  const all = { ...Object.fromEntries(own), ...base?.decimals }
  const decimals = Object.keys(all).length === 0 ? {} : { decimals: all }
  if (base === null) return { resolution, allowed, ...decimals }
  return {
    resolution: base.resolution === 'allowlist' ? 'allowlist' : resolution,
    allowed: base.allowed.filter((token) => added.has(token)),
    ...decimals
  }
}

/** A token as the allowlist knows it; addresses of EVM chains have no case. */
export function tokenKey(chain: string, address: string): string {
  return `${chain} ${chain.startsWith('eip155:') ? address.toLowerCase() : address}`
}

type Providers = NonNullable<PackDocument['providers']>
type Enabled = NonNullable<NonNullable<Providers['detect' | 'quote']>['enabled']>[number]

function ruleOf(enabled: Enabled): ProviderRule {
  const { provider, kinds = null, chains = null, priority } = enabled
  const candidates = 'candidates' in enabled ? (enabled.candidates as readonly Json[]) : undefined
  const rule = 'rule' in enabled ? enabled.rule : undefined
  return {
    provider,
    kinds,
    chains,
    priority,
    ...(candidates === undefined ? {} : { candidates }),
    ...(rule === undefined ? {} : { rule })
  }
}

function both(
  base: readonly string[] | undefined,
  added: readonly string[] | undefined
): readonly string[] | undefined {
  if (base === undefined || added === undefined) return added ?? base
  return added.filter((one) => base.includes(one))
}

function bothLists(
  base: readonly ProviderRule[] | null,
  added: readonly ProviderRule[] | undefined
): readonly ProviderRule[] | null {
  if (added === undefined || base === null) return added ?? base
  return added.filter(({ provider }) => base.some((one) => one.provider === provider))
}

function bothPlugins(
  base: readonly PluginRule[] | null,
  added: readonly PluginRule[]
): readonly PluginRule[] {
  if (base === null) return added
  return added.filter(({ type }) => base.some((one) => one.type === type))
}

type Overrides = NonNullable<NonNullable<PackDocument['overrides']>['actions']>

function tighterActions(base: Policy['actions'], added: Overrides): Policy['actions'] {
  const names = [...new Set([...Object.keys(base), ...Object.keys(added)])].sort()
  const nothing: ActionRule = { riskLevel: 0, requireApproval: false, constraints: {} }
  const entries = names.map((name): [string, ActionRule] => {
    const before = Object.hasOwn(base, name) ? (base[name] ?? nothing) : nothing
    const rule = Object.hasOwn(added, name) ? added[name] : undefined
    const tags = [...(before.riskTags ?? []), ...(rule?.risk_tags ?? [])]
    return [
      name,
      {
        ...(tags.length === 0 ? {} : { riskTags: [...new Set(tags)].sort() }),
        riskLevel: Math.max(before.riskLevel, rule?.risk_level ?? 0),
        requireApproval: before.requireApproval || rule?.require_approval === true,
        constraints: tighterConstraints(before.constraints, rule?.hard_constraints ?? {})
      }
    ]
  })
  return Object.fromEntries(entries)
}
