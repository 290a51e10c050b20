import type { CompositeDefinition } from '../../block/index.js'
import type { SideEffectClass } from '../../code/index.js'
import {
  isSliceFull,
  type Json,
  type JsonObject,
  limits,
  type Pieces,
  spendWork
} from '../../core/index.js'
import {
  type BindingOptions,
  type Bound,
  bindAgent,
  bindNode,
  budgetOf,
  type NodeBinding
} from '../binding/bind.js'
import { error, type FlowFinding } from '../flow/finding.js'
import type { FlowNode } from '../flow/schema.js'
import { FINISH_BLOCK, INPUT_BLOCK, LOADER_BLOCK, PLAN_LOOP_BLOCK } from '../position/blocks.js'
import type { BoundAgent, TurnNode } from '../turn/agent.js'
import { expectedOutputOf, isJsonSchema } from '../turn/expected-output.js'
import { nodeSegments } from '../turn/prompt.js'
import { TURN_BLOCK } from '../turn/turn-block.js'
import type { FlowEdges } from './edges.js'
import type { FlowHost } from './flow-host.js'

type NodeDefinition = CompositeDefinition['nodes'][string]

export interface CompileNodeOptions extends BindingOptions {
  readonly edges: FlowEdges
  readonly host: FlowHost
}

export type CompiledFlowNode =
  | {
      readonly ok: true
      readonly definition: NodeDefinition
      readonly binding?: NodeBinding
      readonly warnings: readonly FlowFinding[]
    }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] }

type Path = readonly (string | number)[]

/** A node of a flow as a node of a composite: its block, and the values that make its payload. */
export function* compilingNode(
  node: FlowNode,
  path: Path,
  options: CompileNodeOptions
): Pieces<CompiledFlowNode> {
  const { nodeKind, config } = node
  if (nodeKind === 'agent.main' || nodeKind === 'agent.sub') {
    return yield* agentNode(node, path, options)
  }
  if (nodeKind.startsWith('loader.')) {
    const payload = loaderPayload(node)
    if (payload === undefined) return unknownKind(node, path)
    return plain(node, options, LOADER_BLOCK, payload)
  }
  switch (nodeKind) {
    case 'input.prompt':
      return plain(node, options, INPUT_BLOCK, { load: null, given: config.userPrompt ?? '' })
    case 'control.plan-loop':
      return plain(node, options, PLAN_LOOP_BLOCK, {
        maxVisits: config.maxIterations ?? limits.PLAN_LOOP_VISITS_DEFAULT,
        threshold: config.completionThreshold ?? PLAN_LOOP_THRESHOLD
      })
    case 'control.finish':
      return plain(node, options, FINISH_BLOCK, {})
    default:
      return customNode(node, path, options)
  }
}

/** Score from which an evaluation ends a plan loop, when the node does not say. */
const PLAN_LOOP_THRESHOLD = 0.8

function loaderPayload({ nodeKind, config }: FlowNode): JsonObject | undefined {
  const path = config.path ?? '.'
  switch (nodeKind) {
    case 'loader.local-dir':
      return { load: { kind: 'files', path }, given: null }
    case 'loader.work-dir':
      return { load: { kind: 'names', path }, given: null }
    case 'loader.http-auth':
      return {
        load: null,
        given: { url: config.url ?? null, credential: config.credential ?? null }
      }
    default:
      return undefined
  }
}

function customNode(node: FlowNode, path: Path, options: CompileNodeOptions): CompiledFlowNode {
  const kind = options.host.kind(node.nodeKind)
  if (kind === undefined) return unknownKind(node, path)
  const config = JSON.parse(JSON.stringify(node.config)) as JsonObject
  return plain(node, options, kind.block.name, { config }, kind.block.sideEffects)
}

function unknownKind({ nodeKind }: FlowNode, path: Path): CompiledFlowNode {
  const message = `no node kind ${nodeKind} is known; register it with defineFlowKind`
  return { ok: false, findings: [error('unknown_node_kind', [...path, 'nodeKind'], message)] }
}

function* agentNode(
  node: FlowNode,
  path: Path,
  options: CompileNodeOptions
): Pieces<CompiledFlowNode> {
  const bound = bindNode(node, { ...options, path })
  if (!bound.ok) return bound
  const { binding, warnings } = bound
  const { agent } = binding
  const delegates = yield* delegatesOf(node, agent, options)
  if (!delegates.ok) return delegates
  const { outputSchema } = node.config
  if (outputSchema !== undefined && !isJsonSchema(outputSchema)) {
    const at = [...path, 'config', 'outputSchema']
    return { ok: false, findings: [error('invalid_document', at, 'it is not a JSON Schema')] }
  }
  const payload = {
    node: turnNode(node, binding),
    agent,
    delegates: delegates.agents,
    flowBudget: budgetOf(options.flow.runtime.globalBudget ?? {})
  }
  const agents = [agent, ...Object.values(delegates.agents)]
  // Plain JSON by construction: it is made of parsed documents.
  const json = payload as unknown as JsonObject
  const compiled = plain(node, options, TURN_BLOCK, json, highestClass(agents))
  return compiled.ok ? { ...compiled, binding, warnings } : compiled
}

function turnNode({ nodeId, config }: FlowNode, binding: NodeBinding): TurnNode {
  const turnMode = config.turnMode ?? binding.turnMode
  const expectedOutput = expectedOutputOf({
    turnMode,
    outputKind: binding.definition.outputKind,
    outputSchema: config.outputSchema
  })
  const { delegateTo, retry } = config
  return {
    turnMode,
    segments: nodeSegments(nodeId, config),
    ...(expectedOutput === undefined ? {} : { expectedOutput }),
    outputRetries: config.outputRetries ?? limits.AGENT_OUTPUT_RETRIES_DEFAULT,
    tries: retry?.maxAttempts ?? 1,
    retryMs: retry?.intervalMs ?? 0,
    ...(delegateTo === undefined ? {} : { delegateTo })
  }
}

type Delegates =
  | { readonly ok: true; readonly agents: Readonly<Record<string, BoundAgent>> }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] }

/** The agents that the node's agent may hand a task to. */
function* delegatesOf(
  node: FlowNode,
  agent: BoundAgent,
  options: CompileNodeOptions
): Pieces<Delegates> {
  const { delegateTo } = node.config
  const { allowedAgents, switchModes, maxDelegations } = agent.delegation
  const suggests = switchModes.includes('agent-suggested') && maxDelegations > 0
  const known = options.flow.agents.agentDefs.map(({ agentId }) => agentId)
  const suggested = suggests ? (allowedAgents.length > 0 ? allowedAgents : known) : []
  const wanted = [...(delegateTo === undefined ? [] : [delegateTo]), ...suggested]
  const ids = [...new Set(wanted)].filter((id) => id !== agent.agentId)
  spendWork(known.length + ids.length)
  const bound: { readonly agentId: string; readonly bound: Bound }[] = []
  for (const agentId of ids) {
    if (isSliceFull()) yield
    bound.push({ agentId, bound: bindAgent(agentId, options) })
  }
  const findings = bound.flatMap(({ bound }) => (bound.ok ? [] : bound.findings))
  if (findings.length > 0) return { ok: false, findings }
  const agents = bound.flatMap(({ agentId, bound }): [string, BoundAgent][] =>
    bound.ok ? [[agentId, bound.binding.agent]] : []
  )
  return { ok: true, agents: Object.fromEntries(agents) }
}

function highestClass(agents: readonly BoundAgent[]): SideEffectClass {
  const classes = agents.flatMap(({ sideEffects, tools }) => [
    sideEffects,
    ...tools.map((tool) => tool.sideEffects)
  ])
  return classes.includes('non_idempotent') ? 'non_idempotent' : 'idempotent'
}

function plain(
  node: FlowNode,
  options: CompileNodeOptions,
  block: string,
  payload: JsonObject,
  sideEffects?: SideEffectClass
): CompiledFlowNode {
  const { edges, flow } = options
  const literals = Object.entries(payload).map(([key, value]): [string, Json] => [
    key,
    { lit: value }
  ])
  const entry: Json = {
    object: {
      flowName: { lit: flow.meta.name },
      nodeId: { lit: node.nodeId },
      incoming: { lit: edges.incoming(node) as unknown as Json },
      defaults: { lit: edges.defaults(node) },
      run: { ref: 'request.payload' },
      sources: { object: edges.sources(node) }
    }
  }
  const { retry, onError } = node.config
  const definition: NodeDefinition = {
    work: { kind: 'block', block },
    input: { object: { entry, ...Object.fromEntries(literals) } },
    context: [],
    recovery: retry === undefined ? [] : [{ kind: 'retry', ...retry, errors: ['EffectFailure'] }],
    onError: onError ?? 'stop',
    ...(sideEffects === undefined ? {} : { sideEffects })
  }
  return { ok: true, definition, warnings: [] }
}
