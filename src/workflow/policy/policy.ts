import { approversIn } from '../../block/index.js'
import { type Approvers, type Hash, hashJson, TallyError } from '../../core/index.js'
import { stricterApprovers } from '../../identity/index.js'
import type { PackDocument } from '../document/pack.js'
import type { HardConstraints } from '../document/protocol.js'
import { compareDecimals } from '../type/check.js'

/** What a run may do without asking, and what it may not do at all (W12). Plain JSON. */
export interface Policy {
  /** Actions up to this risk are executed without asking; 0: none. */
  readonly autoExecuteMaxRisk: number
  /** Actions from this risk on always ask; 6: none. */
  readonly requireApprovalMinRisk: number
  /** Who has to sign where the policy asks (K13); absent: any answer of the owner does. */
  readonly approvers?: Approvers
  readonly constraints: HardConstraints
  /** Null: every token. */
  readonly tokens: TokenPolicy | null
  /** Providers that may make choices, by kind of list; null: every one. */
  readonly detectProviders: readonly ProviderRule[] | null
  readonly quoteProviders: readonly ProviderRule[] | null
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
}

export interface ProviderRule {
  readonly provider: string
  readonly kinds: readonly string[] | null
  readonly chains: readonly string[] | null
  readonly priority: number
}

export interface PluginRule {
  readonly type: string
  readonly chains: readonly string[] | null
}

export interface ActionRule {
  readonly riskLevel: number
  readonly requireApproval: boolean
  readonly constraints: HardConstraints
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
    throw new TallyError('workflow.invalid_document', { kind: 'pack', problem })
  }
  const plugin = plugins?.execution?.enabled.map(
    ({ type, chains }): PluginRule => ({ type, chains: chains ?? null })
  )
  return {
    autoExecuteMaxRisk: Math.min(
      base.autoExecuteMaxRisk,
      approvals?.auto_execute_max_risk_level ?? base.autoExecuteMaxRisk
    ),
    requireApprovalMinRisk: Math.min(
      base.requireApprovalMinRisk,
      approvals?.require_approval_min_risk_level ?? base.requireApprovalMinRisk
    ),
    ...(approvers === undefined ? {} : { approvers }),
    constraints: tighterConstraints(base.constraints, policy?.hard_constraints_defaults ?? {}),
    tokens: tokens === undefined ? base.tokens : tighterTokens(base.tokens, tokens),
    detectProviders: bothLists(base.detectProviders, providers?.detect?.enabled.map(ruleOf)),
    quoteProviders: bothLists(base.quoteProviders, providers?.quote?.enabled.map(ruleOf)),
    plugins: plugin === undefined ? base.plugins : bothPlugins(base.plugins, plugin),
    actions: tighterActions(base.actions, overrides?.actions ?? {}),
    packs: [...base.packs, `${pack.meta.name}@${pack.meta.version}`]
  }
}

/** Of two sets of bounds, at each the tighter one. */
export function tighterConstraints(one: HardConstraints, other: HardConstraints): HardConstraints {
  const least = <Key extends keyof HardConstraints>(key: Key) => pick(key, one[key], other[key], -1)
  const merged = {
    ...least('max_slippage_bps'),
    ...least('max_price_impact_bps'),
    ...least('max_spend'),
    ...least('max_approval'),
    ...pick(
      'min_health_factor_after',
      one.min_health_factor_after,
      other.min_health_factor_after,
      1
    )
  }
  const unlimited = [one.allow_unlimited_approval, other.allow_unlimited_approval]
  if (unlimited.includes(false)) return { ...merged, allow_unlimited_approval: false }
  return unlimited.includes(true) ? { ...merged, allow_unlimited_approval: true } : merged
}

function pick<Value extends string | number | boolean>(
  key: string,
  one: Value | undefined,
  other: Value | undefined,
  wanted: -1 | 1
): Readonly<Record<string, Value>> {
  if (one === undefined) return other === undefined ? {} : { [key]: other }
  if (other === undefined) return { [key]: one }
  return { [key]: compareDecimals(one, other) === wanted ? one : other }
}

function tighterTokens(
  base: TokenPolicy | null,
  { resolution, allowlist }: NonNullable<PackDocument['token_policy']>
): TokenPolicy | null {
  if (resolution === 'any') return base
  const allowed = allowlist.map(({ chain, address }) => tokenKey(chain, address))
  const added = new Set(allowed)
  if (base === null) return { resolution, allowed }
  return {
    resolution: base.resolution === 'allowlist' ? 'allowlist' : resolution,
    allowed: base.allowed.filter((token) => added.has(token))
  }
}

/** A token as the allowlist knows it; addresses of EVM chains have no case. */
export function tokenKey(chain: string, address: string): string {
  return `${chain} ${chain.startsWith('eip155:') ? address.toLowerCase() : address}`
}

type Enabled = NonNullable<
  NonNullable<NonNullable<PackDocument['providers']>['detect']>['enabled']
>[number]

function ruleOf({ provider, kinds, chains, priority }: Enabled): ProviderRule {
  return { provider, kinds: kinds ?? null, chains: chains ?? null, priority }
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

type Overrides = NonNullable<PackDocument['overrides']>['actions']

function tighterActions(base: Policy['actions'], added: Overrides): Policy['actions'] {
  const names = [...new Set([...Object.keys(base), ...Object.keys(added)])].sort()
  const nothing: ActionRule = { riskLevel: 0, requireApproval: false, constraints: {} }
  const entries = names.map((name): [string, ActionRule] => {
    const before = Object.hasOwn(base, name) ? (base[name] ?? nothing) : nothing
    const rule = Object.hasOwn(added, name) ? added[name] : undefined
    return [
      name,
      {
        riskLevel: Math.max(before.riskLevel, rule?.risk_level ?? 0),
        requireApproval: before.requireApproval || rule?.require_approval === true,
        constraints: tighterConstraints(before.constraints, rule?.hard_constraints ?? {})
      }
    ]
  })
  return Object.fromEntries(entries)
}
