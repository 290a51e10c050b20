import { type PlanDefinition, type PlanNodeDefinition, planSchemaName } from '../../block/index.js'
import {
  atOnce,
  canonicalizing,
  isLarge,
  isSliceFull,
  isWorkCounted,
  type Json,
  limits,
  type Pieces,
  reading,
  spendWork
} from '../../core/index.js'
import type { AisPlan, AisPlanNode } from '../plan/plan.js'
import type { Policy } from '../policy/policy.js'
import { currentRules, type NodeSpec, type RunMode, specJson } from './node-spec.js'
import type { PreflightSpec } from './preflight.js'
import { preflightGroups } from './preflight-targets.js'
import { inputsNode, nodeBlocks, outputsNode, preflightNode } from './spec.js'

/**
 * A plan of AIS as a dependency graph of blocks (architecture.md §6): each node is a leaf with a
 * receipt of its own, delivered as it comes, so that a node that waits holds up no other (D3, W9).
 */
export function definitionOf(planned: AisPlan, options: DefinitionOptions): PlanDefinition {
  return atOnce(makingDefinition(planned, options))
}

interface DefinitionOptions {
  readonly policy: Policy
  readonly mode: RunMode
  /** Inside another document: then its inputs were not checked before it begins. */
  readonly isUsed?: boolean
}

/** {@link definitionOf} in pieces: other work may be done wherever it yields. */
export function* makingDefinition(
  { nodes: plannedNodes, ...planned }: AisPlan,
  options: DefinitionOptions
): Pieces<PlanDefinition> {
  const kept: AisPlanNode[] = []
  for (const node of plannedNodes) {
    kept.push(yield* ordered(node))
    if (isSliceFull()) yield
  }
  const plan: AisPlan = { ...(yield* ordered(planned)), nodes: kept }
  const policy = yield* ordered(options.policy)
  const mode = yield* ordered(options.mode)
  const common = { inputs: plan.inputs, policy: plan.policy } satisfies NodeSpec['plan']
  const nodes = plan.nodes.map((node) =>
    nodeOf({ mode, node, plan: common, policy, rules: currentRules })
  )
  const outputs = Object.keys(plan.outputs).length === 0 ? [] : [outputsOf(plan, common)]
  const result = { ref: `nodes.${outputsNode}.response.data` }
  const looks = mode.writes === 'simulate' ? [] : yield* looksOf(plan, common, mode)
  const all = [...looks.map(({ node }) => node), ...behindLooks(nodes, looks), ...outputs]
  const isChecked = options.isUsed === true && Object.keys(plan.inputs).length > 0
  return {
    schema: planSchemaName,
    name: plan.name,
    version: plan.version,
    order: 'arrival',
    parallel: true,
    atomic: false,
    lanes: {},
    nodes: isChecked ? behindCheck(all, common) : all,
    ...(outputs.length === 0 ? {} : { output: result })
  }
}

/**
 * Its own copy, with members in the order of canonical JSON: nodes are given the definition's own
 * specs, which must not change with the document, nor differ from what a receipt brings back.
 */
function* ordered<Plain>(value: Plain): Pieces<Plain> {
  const text = yield* canonicalizing(value)
  const isInPieces = isWorkCounted() && isLarge(value)
  return (isInPieces ? yield* reading(text) : JSON.parse(text)) as Plain
}

function nodeOf(spec: NodeSpec): PlanNodeDefinition {
  const { node } = spec
  return {
    id: node.id,
    deps: node.deps,
    work: { kind: 'block', block: nodeBlocks[node.kind] },
    input: inputOf({ spec: { lit: specJson(spec) } }, node.deps),
    onError: node.onError,
    ...(node.onError === 'ask' ? { parks: true } : {}),
    context: [],
    recovery: recoveryOf(node),
    ...(node.timeoutMs === null ? {} : { timeoutMs: node.timeoutMs })
  }
}

function outputsOf(plan: AisPlan, common: NodeSpec['plan']): PlanNodeDefinition {
  const read = JSON.stringify(plan.outputs)
  // Names that stand in text only cost a dependency; that one is missing could cost a value.
  spendWork(plan.nodes.length * (1 + (read.length >> 7)))
  const deps = plan.nodes.map(({ id }) => id).filter((id) => read.includes(id.split('__')[0] ?? id))
  const literals = {
    outputs: { lit: plan.outputs as unknown as Json },
    amounts: { lit: plan.amounts },
    plan: {
      lit: {
        ...common,
        rules: currentRules,
        ...(plan.places === undefined ? {} : { places: plan.places })
      } as unknown as Json
    }
  }
  return {
    id: outputsNode,
    deps,
    work: { kind: 'block', block: nodeBlocks.outputs },
    input: inputOf(literals, deps),
    // What was done is done: another run of the same work would do it again (W13).
    onError: 'ask',
    context: [],
    recovery: []
  }
}

/** A node that looks at what others need, and which of them wait for it. */
interface Look {
  readonly node: PlanNodeDefinition
  readonly before: ReadonlySet<string>
}

/** Where nothing is written there are none (W15). */
function* looksOf(
  plan: AisPlan,
  common: NodeSpec['plan'],
  { writes }: RunMode
): Pieces<readonly Look[]> {
  // Only where every failure ends the run does this one.
  const stops = plan.nodes.every(({ onError }) => onError === 'stop')
  const looks: Look[] = []
  for (const [index, { deps, targets, before }] of preflightGroups(plan.nodes).entries()) {
    const id = index === 0 ? preflightNode : `${preflightNode}_${index}`
    const spec = yield* ordered<PreflightSpec>({ id, plan: common, writes, targets })
    const node: PlanNodeDefinition = {
      id,
      deps,
      work: { kind: 'block', block: nodeBlocks.preflight },
      input: inputOf({ spec: { lit: spec as unknown as Json } }, deps),
      onError: stops ? 'stop' : 'ask',
      ...(stops ? {} : { parks: true }),
      context: [],
      recovery: readAgain
    }
    looks.push({ node, before })
    if (isSliceFull()) yield
  }
  return looks
}

/** The nodes behind what is looked at before them. */
function behindLooks(
  nodes: readonly PlanNodeDefinition[],
  looks: readonly Look[]
): readonly PlanNodeDefinition[] {
  if (looks.length === 0) return nodes
  return nodes.map((node) => {
    const own = looks.flatMap((look) => (look.before.has(node.id) ? [look.node.id] : []))
    return own.length === 0 ? node : { ...node, deps: [...node.deps, ...own].sort() }
  })
}

/** The nodes behind one that checks the inputs. */
function behindCheck(
  nodes: readonly PlanNodeDefinition[],
  common: NodeSpec['plan']
): readonly PlanNodeDefinition[] {
  const given = { ref: 'request.payload' }
  const check: PlanNodeDefinition = {
    id: inputsNode,
    deps: [],
    work: { kind: 'block', block: nodeBlocks.inputs },
    input: { object: { plan: { lit: common as unknown as Json }, given } },
    onError: 'stop',
    context: [],
    recovery: []
  }
  const first = (node: PlanNodeDefinition) =>
    node.deps.length === 0 ? { ...node, deps: [inputsNode] } : node
  return [check, ...nodes.map(first)]
}

function inputOf(literals: Readonly<Record<string, Json>>, deps: readonly string[]): Json {
  const nodes = deps.map((id): [string, Json] => [id, { ref: `nodes.${id}.response.data` }])
  return {
    object: {
      ...literals,
      given: { ref: 'request.payload' },
      nodes: { object: Object.fromEntries(nodes) }
    }
  }
}

/** What an endpoint that is down or busy for a moment leads to; writes ask by id instead (L7). */
const readAgain: PlanNodeDefinition['recovery'] = [
  {
    kind: 'retry',
    maxAttempts: limits.CHAIN_READ_ATTEMPTS_MAX,
    intervalMs: 250,
    backoff: 'exp',
    errors: ['AisRetryable']
  }
]

/** Tries again what may pass; a node that polls does so by itself (W5). */
function recoveryOf({ retry, until, kind }: AisPlanNode): PlanNodeDefinition['recovery'] {
  if (until !== null) return []
  if (retry === null) return kind === 'query' ? readAgain : []
  const { intervalMs, maxAttempts, backoff, maxIntervalMs } = retry
  return [
    {
      kind: 'retry',
      maxAttempts: Math.min(maxAttempts ?? limits.RETRY_ATTEMPTS_MAX, limits.RETRY_ATTEMPTS_MAX),
      intervalMs,
      backoff,
      ...(maxIntervalMs === null ? {} : { maxIntervalMs }),
      errors: ['AisRetryable']
    }
  ]
}
