import { isJsonObject, type JsonObject, objectOf } from '../../core/index.js'
import type { AisPlanNode, PlanPlaces } from '../plan/plan.js'
import type { Scope } from '../value/compile.js'
import type { AisRuntime } from './runtime.js'

/** What a node has computed of itself so far. */
export interface OwnValues {
  readonly params: JsonObject
  readonly calculated: JsonObject
}

/**
 * Addresses that a node sees (W8): what the runtime says for the node, for its chain, or by the
 * bare name where that means one thing in the whole workflow; else the deployment of the plan.
 */
export function contractsFor(node: AisPlanNode, runtime: AisRuntime): JsonObject {
  const { contracts } = runtime
  if (node.contracts.length === 0) return {}
  const layers = [node.id, node.source.node, node.chain].map((key) => objectAt(contracts, key))
  const entries = node.contracts.flatMap(({ name, address, isShared }) => {
    const scoped = layers.find((layer) => typeof layer[name] === 'string')?.[name]
    const bare = isShared && typeof contracts[name] === 'string' ? contracts[name] : undefined
    const found = scoped ?? bare ?? address
    return found === null || found === undefined ? [] : [[name, found] as const]
  })
  return objectOf(entries)
}

/** The names of a value's scope, with what stands under each (semantics.md W3). */
export function bindingsFor(
  scope: Scope,
  node: AisPlanNode,
  runtime: AisRuntime,
  own: OwnValues
): JsonObject {
  const { ctx, policy, calculated } = runtime
  const contracts = contractsFor(node, runtime)
  const detect = objectAt(runtime.choices, node.id)
  const { inputs } = runtime
  if (scope === 'flow') {
    const nodes = nodesFor(runtime, node.places)
    return { ctx, contracts, policy, detect, inputs, calculated, nodes }
  }
  const asked = Object.entries(node.queries).map(
    ([name, id]) => [name, runtime.nodes[id]?.outputs ?? {}] as const
  )
  const query = objectOf(asked)
  const { params } = own
  const all = { ...calculated, ...own.calculated }
  if (scope === 'override') {
    const nodes = nodesFor(runtime, node.places)
    return { ctx, contracts, policy, detect, inputs, params, calculated: all, query, nodes }
  }
  const steps = stepsFor(node, runtime)
  return { ctx, contracts, policy, detect, params, calculated: all, query, steps }
}

/**
 * Done nodes under the names of the workflow; steps of a composite stand below its outputs. One
 * that was skipped is there without outputs, so that `has()` can tell (W6).
 */
export function nodesFor(runtime: AisRuntime, places: PlanPlaces = {}): JsonObject {
  const nodes = new Map<string, JsonObject>()
  const steps: (readonly [string, string, JsonObject])[] = []
  for (const [id, values] of Object.entries(runtime.nodes)) {
    const { node, step } = placeOf(id, places)
    if (step !== null) steps.push([node, step, values?.outputs ?? {}])
    else if (values === null) nodes.set(id, {})
    else nodes.set(id, { outputs: values.outputs, calculated: values.calculated })
  }
  for (const [node, step, outputs] of steps) {
    const known = nodes.get(node) ?? {}
    const before = objectAt(known, 'outputs')
    const all = { ...objectAt(before, 'steps'), [step]: outputs }
    nodes.set(node, { ...known, outputs: { ...before, steps: all } })
  }
  return objectOf(nodes)
}

/** The node of the workflow, and the step, that a node of the plan is. */
function placeOf(id: string, places: PlanPlaces): PlanPlaces[string] {
  const known = Object.hasOwn(places, id) ? places[id] : undefined
  if (known !== undefined) return known
  const at = id.indexOf('__')
  if (at <= 0) return { node: id, step: null }
  return { node: id.slice(0, at), step: id.slice(at + '__'.length) }
}

/** Paths of what done nodes have calculated that are amounts, as in their own nodes (W4). */
export function calculatedAmounts({ nodes }: AisRuntime): readonly string[] {
  const found: string[] = []
  for (const [id, values] of Object.entries(nodes)) {
    for (const path of values?.amounts ?? []) found.push(`nodes.${id}.calculated.${path}`)
  }
  return found
}

function stepsFor(node: AisPlanNode, runtime: AisRuntime): JsonObject {
  if (node.source.step === null) return {}
  const steps = Object.entries(runtime.nodes).flatMap(([id, values]) => {
    const place = placeOf(id, node.places ?? {})
    const isOwn = place.step !== null && place.node === node.source.node
    return isOwn ? [[place.step, values?.outputs ?? {}] as const] : []
  })
  return Object.fromEntries(steps)
}

function objectAt(owner: JsonObject, key: string): JsonObject {
  const value = Object.hasOwn(owner, key) ? owner[key] : undefined
  return isJsonObject(value) ? value : {}
}
