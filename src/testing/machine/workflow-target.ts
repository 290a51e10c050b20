import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { type NodeSpec, readSpec } from '../../workflow/index.js'
import { aisSchema } from './ais-values.js'
import { chainEffectName } from './chain-world.js'
import type { EffectOptionsOfWorld } from './options.js'

/** What the nodes of workflows in a definition say about the world that they run in. */
export interface WorkflowParts {
  /** What chains answer, as far as protocols declare it. */
  readonly effects: Readonly<Record<string, EffectOptionsOfWorld>>
  /** Of the inputs of the workflow. */
  readonly inputSchema: Json
}

/**
 * Nodes of AIS anywhere in a definition: they stand there as literals, with everything that was
 * looked up. Undefined: it has none.
 */
export function workflowParts(definition: Json): WorkflowParts | undefined {
  const specs = specsIn(definition)
  const [first] = specs
  if (first === undefined) return undefined
  const { chain } = first.node
  const effects = specs.map(({ node }): [string, EffectOptionsOfWorld] => {
    const name = chainEffectName(node.kind === 'query' ? 'read' : 'write', node.execution)
    return [name, { answer: outputSchema(node, chain) }]
  })
  return { effects: Object.fromEntries(effects), inputSchema: inputsSchema(first.plan, chain) }
}

function specsIn(value: Json): readonly NodeSpec[] {
  if (Array.isArray(value)) return value.flatMap(specsIn)
  if (!isJsonObject(value)) return []
  const { lit } = value
  if (isJsonObject(lit) && isJsonObject(lit['node']) && 'execution' in lit['node']) {
    return [readSpec(lit)]
  }
  return Object.values(value).flatMap(specsIn)
}

/** What a node is declared to give; what its function gives where the node declares nothing. */
function outputSchema({ returns, execution }: NodeSpec['node'], chain: string): JsonObject {
  const { abi } = execution as unknown as JsonObject
  const outputs = isJsonObject(abi) && Array.isArray(abi['outputs']) ? abi['outputs'] : []
  const declared = returns.length > 0 ? returns : outputs.filter(isNamed)
  return objectSchema(
    declared.map(({ name, type }) => [name, type]),
    { chain }
  )
}

function isNamed(output: Json): output is { readonly name: string; readonly type: string } {
  if (!isJsonObject(output)) return false
  const { name, type } = output
  return typeof name === 'string' && name !== '' && typeof type === 'string'
}

function inputsSchema({ inputs }: NodeSpec['plan'], chain: string): JsonObject {
  const declared = Object.entries(inputs)
  const required = declared.filter(([, one]) => one.required).map(([name]) => name)
  return objectSchema(
    declared.map(([name, { type }]) => [name, type]),
    { chain, required }
  )
}

function objectSchema(
  members: readonly (readonly [name: string, type: string])[],
  options: { readonly chain: string; readonly required?: readonly string[] }
): JsonObject {
  const { chain, required = members.map(([name]) => name) } = options
  const properties = members.map(([name, type]) => [name, aisSchema(type, chain) ?? {}] as const)
  return { type: 'object', properties: Object.fromEntries(properties), required }
}
