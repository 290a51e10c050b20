import type { Json, JsonObject } from '../../src/core/index.js'
import { planFlow } from '../../src/workflow/plan/planner.js'
import { policyVerdict } from '../../src/workflow/policy/gate.js'
import { defaultPolicy, tightened, underFlow } from '../../src/workflow/policy/policy.js'
import { nodeReadiness } from '../../src/workflow/readiness/readiness.js'
import { prepareRuntime } from '../../src/workflow/readiness/runtime.js'
import { valuesFor } from '../../src/workflow/value/plain.js'
import { flowOf, packOf, protocolOf } from './ais.js'

/** A workflow of one node over a protocol of one action, into which forms are put. */

export const chain = 'eip155:1'
export const address = `0x${'a'.repeat(40)}`
export const call = {
  type: 'evm_call',
  to: { lit: address },
  abi: { type: 'function', name: 'pay', inputs: [{ name: 'x', type: 'uint256' }] },
  args: { x: { ref: 'calculated.twice' } }
}
export const action = {
  description: 'pays',
  risk_level: 2,
  params: [{ name: 'n', type: 'uint256', description: 'how much' }],
  calculated_fields: {
    base: { expr: { cel: 'params.n' }, inputs: ['params.n'] },
    twice: { expr: { cel: 'calculated.base + calculated.base' } }
  },
  execution: { [chain]: call as Json }
}
export const query = {
  description: 'reads',
  execution: { [chain]: { type: 'evm_read', to: { lit: address }, abi: call.abi, args: {} } }
}

export interface Form {
  readonly node?: JsonObject
  readonly flow?: JsonObject
  readonly action?: JsonObject
  readonly protocol?: JsonObject
  readonly pack?: JsonObject
  /** The outcome of the node `a`, or what is wrong with it. */
  readonly means: Json
}

/** The outcome of the first node of a workflow, or what is wrong with its documents. */
export async function meaning({ node, flow, action: changed, protocol, pack }: Form) {
  const flowText: Json = {
    schema: 'ais-flow/0.0.3',
    meta: { name: 'A name of any kind', version: '1.0.0' },
    default_chain: chain,
    nodes: [
      {
        id: 'a',
        type: 'action_ref',
        protocol: '1pay@1.0.0',
        action: 'pay',
        args: { n: { lit: '5' } },
        ...node
      }
    ],
    ...flow
  }
  const document = protocolOf({
    schema: 'ais/0.0.2',
    meta: { protocol: '1pay', version: '1.0.0' },
    deployments: [],
    actions: { pay: { ...action, ...changed } },
    ...protocol
  })
  const parsed = flowOf(flowText)
  const values = await valuesFor(flowText, document)
  const planned = planFlow({ flow: parsed, protocols: [document], values })
  if (!planned.ok) return planned.issues.map(({ code }) => code)
  const [first] = planned.plan.nodes
  if (first === undefined) throw new Error('a plan has nodes')
  const prepared = prepareRuntime(planned.plan, {})
  if (!prepared.ok) throw new Error('nothing is given')
  const ready = nodeReadiness(first, prepared.runtime, values)
  if (ready.state !== 'ready') return ready
  const packed =
    pack === undefined ? defaultPolicy : tightened(defaultPolicy, packOf(packWith(pack)))
  // The call is none that is decoded: forms are about what documents say.
  const said = { isMeasured: false }
  const verdict = policyVerdict(first, ready, underFlow(packed, parsed), said)
  return { ...ready, verdict: verdict.kind, hits: verdict.hits.map(({ reason }) => reason), first }
}

export function packWith(more: JsonObject): Json {
  return { schema: 'ais-pack/0.0.2', name: 'p', version: '1.0.0', includes: [], ...more }
}
