import type { Json, JsonObject } from '../../src/core/index.js'
import type { ChainCall } from '../../src/executor/index.js'
import type { AisPlanNode } from '../../src/workflow/plan/plan.js'
import { policyVerdict, type Verdict } from '../../src/workflow/policy/gate.js'
import { defaultPolicy, type Policy, tightened } from '../../src/workflow/policy/policy.js'
import { aisText, goodPlan, packOf } from './ais.js'

const { plan } = await goodPlan(aisText('bridge'))
const template = plan.nodes.find(({ id }) => id === 'transfer_to_cex') as AisPlanNode

/** What a protocol says of its action. */
export interface Says {
  readonly level?: number
  readonly tags?: readonly string[]
  readonly name?: string
  readonly params?: JsonObject
  readonly calculated?: JsonObject
  /** What its executor says that it sends. */
  readonly call?: ChainCall | undefined
}

/** What a policy says of a write whose execution is resolved. */
export function judgeWrite(
  chain: string,
  execution: JsonObject & { readonly type: string },
  policy: Policy,
  says: Says = {},
  times = 1
): Verdict {
  const { level = 1, tags = [], name = 'do_it', params = {}, calculated = {}, call } = says
  const node: AisPlanNode = {
    ...template,
    chain,
    source: { ...template.source, name },
    execution: { ...template.execution, type: execution.type } as AisPlanNode['execution'],
    risk: { level, tags, constraints: {} }
  }
  const ready = { state: 'ready', params, calculated, contracts: {}, execution } as const
  return policyVerdict(node, ready, policy, { times, call })
}

/** The verdict, and why. */
export const short = ({ kind, hits }: Verdict) => [kind, ...hits.map(({ reason }) => reason)]

/** A policy that asks about nothing. */
export const free: Policy = { ...defaultPolicy, autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }

/** A policy under a pack with these bounds. */
export function bound(hard_constraints_defaults: JsonObject, base = free): Policy {
  const meta = { name: 'p', version: '1.0.0' }
  const policy = { hard_constraints_defaults }
  return tightened(base, packOf({ schema: 'ais-pack/0.0.2', meta, includes: [], policy } as Json))
}
