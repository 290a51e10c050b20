import { z } from 'zod-pinned'
import { isJsonObject, type Json, type JsonObject, objectOf } from '../../core/index.js'
import type { Corrected, Replacing } from '../../executor/index.js'
import { carriedPatches, type RuntimePatch } from '../readiness/patch.js'
import type { AisRuntime, NodeValues, RuntimeGiven } from '../readiness/runtime.js'
import { type NodeSpec, readSpec } from './node-spec.js'

/** Names of the blocks that nodes of a workflow run as. */
export const nodeBlocks = {
  query: 'ais.query',
  action: 'ais.action',
  preflight: 'ais.preflight',
  outputs: 'ais.outputs',
  inputs: 'ais.inputs'
} as const

/** Node of the plan that computes the workflow's outputs; no node of a workflow has this name. */
export const outputsNode = 'run__outputs'
/**
 * Node that looks at what the others will need, before the first of them; those for conditions that
 * only results decide have a number behind it (W15).
 */
export const preflightNode = 'run__preflight'

/** Whether a node is one that looks at what others need. */
export function isPreflight(id: string): boolean {
  return id.startsWith(preflightNode)
}

/** Node that checks what a workflow inside of another document was given. */
export const inputsNode = 'run__inputs'

/** The payload of a node's block. */
export interface NodeInput {
  readonly spec: NodeSpec
  /** What the run was started with. */
  readonly given: Json
  /** Results of the nodes it waits for; null for one that a person skipped. */
  readonly nodes: Readonly<Record<string, Json>>
  /** Changes that a person decided on after a failure of the node. */
  readonly patches?: readonly Json[] | undefined
  /** By hash, transactions that a person has decided to replace: how much more each is to pay. */
  readonly replace?: Replacing | undefined
  /** What a wallet outside has sent, by the wrong hash that it gave; persons have said so. */
  readonly transaction_hash?: Corrected | undefined
}

/** What a node gives; the data of its response. */
export interface NodeResult {
  readonly status: 'done' | 'skipped' | 'simulated'
  readonly outputs: JsonObject
  readonly calculated: JsonObject
  /** Ways in `calculated` to text that is an amount; absent under rules before 3, and for none. */
  readonly amounts?: readonly string[]
  /** Changes to what the plan reads that were given to this node or to one before it. */
  readonly patches: readonly RuntimePatch[]
}

/** The schema of {@link NodeInput}: its parts were checked when the plan was made. */
export const nodeInput = z.strictObject({
  spec: z.custom<NodeSpec>((value) => isJsonObject(value) && isJsonObject(value['node'])),
  given: z.json(),
  nodes: z.record(z.string(), z.json()),
  patches: z.array(z.json()).optional()
})

/**
 * {@link nodeInput} for what is plain JSON already: every payload is; it is not looked through. It
 * takes `replace` and `transaction_hash`, too, of which the schema says nothing: that stands in the
 * hashes of blocks.
 */
export function readNodeInput(value: Json): NodeInput | undefined {
  if (!isJsonObject(value)) return undefined
  if (!Object.keys(value).every((key) => inputMembers.has(key))) return undefined
  const { spec, given, nodes, patches, replace, transaction_hash: corrected } = value
  if (!isJsonObject(spec) || !isJsonObject(spec['node']) || given === undefined) return undefined
  if (!isJsonObject(nodes)) return undefined
  if (patches !== undefined && !Array.isArray(patches)) return undefined
  if (!holds(replace, Number.isInteger)) return undefined
  if (!holds(corrected, (hash) => typeof hash === 'string')) return undefined
  // What was asked above; Node 20 is slow behind a spread.
  return {
    spec: readSpec(spec),
    given,
    nodes,
    patches,
    replace: replace as unknown as Replacing | undefined,
    transaction_hash: corrected as unknown as Corrected | undefined
  }
}

const inputMembers: ReadonlySet<string> = new Set<keyof NodeInput>([
  'spec',
  'given',
  'nodes',
  'patches',
  'replace',
  'transaction_hash'
])

/** Whether an object has nothing but such values, or is not there. */
function holds(owner: Json | undefined, isSuch: (value: Json) => boolean): boolean {
  return owner === undefined || (isJsonObject(owner) && Object.values(owner).every(isSuch))
}

/** What done nodes gave, as values of expressions, and the patches that they bring along. */
export function resultsOf(nodes: NodeInput['nodes']): {
  readonly nodes: AisRuntime['nodes']
  readonly patches: readonly RuntimePatch[]
} {
  const values: [string, NodeValues | null][] = []
  const patches: RuntimePatch[] = []
  for (const [id, data] of Object.entries(nodes)) {
    const isDone = isJsonObject(data) && data['status'] !== 'skipped'
    values.push([id, isDone ? valuesIn(data) : null])
    if (isJsonObject(data)) patches.push(...carriedPatches(data['patches'] ?? []))
  }
  return { nodes: objectOf(values), patches }
}

function valuesIn(data: JsonObject): NodeValues {
  const values = { outputs: own(data, 'outputs'), calculated: own(data, 'calculated') }
  const { amounts } = data as Partial<NodeResult>
  return amounts === undefined ? values : { ...values, amounts }
}

const sections = ['inputs', 'ctx', 'contracts', 'calculated', 'policy', 'choices'] as const

/**
 * What a run was started with: the six sections by name, or nothing but inputs. An object of which
 * every member is a section is taken for sections.
 */
export function givenOf(payload: Json): RuntimeGiven {
  if (!isJsonObject(payload)) return {}
  const names = Object.keys(payload)
  const isSections = names.every(
    (name) => sections.some((one) => one === name) && isJsonObject(payload[name])
  )
  return isSections ? (payload as RuntimeGiven) : { inputs: payload }
}

function own(data: JsonObject, key: string): JsonObject {
  const value = data[key]
  return isJsonObject(value) ? value : {}
}
