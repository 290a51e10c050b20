import type { z } from 'zod'
import { type Json, limits } from '../../core/index.js'
import type { RetryPolicyStep } from '../chart/protocol.js'
import {
  type BranchDefinition,
  type CompositeDefinition,
  type ConditionDefinition,
  type Diagnostic,
  type DocumentPath,
  type GraphDefinition,
  type Locate,
  type NodeDefinition,
  type PlanDefinition,
  type PlanNodeDefinition,
  planSchemaName,
  reportedDiagnostics,
  type WorkDefinition
} from './definition.js'
import {
  approversIn,
  compositeSchema,
  type GraphDocument,
  type PlanDocument,
  planSchema
} from './schema.js'
import { validateGraph, validatePlan } from './validate.js'

export type ParsedComposite =
  | { readonly ok: true; readonly definition: CompositeDefinition }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Reads a `tally-composite/1` document (already plain JSON) and checks its graph (B4). Diagnostics
 * carry line and column when `locate` finds paths in the document's text. Never throws for bad
 * data.
 */
export function parseComposite(
  document: Json,
  options: { readonly locate?: Locate } = {}
): ParsedComposite {
  const refused = (diagnostics: readonly Diagnostic[]): ParsedComposite => ({
    ok: false,
    diagnostics: reportedDiagnostics(diagnostics, options.locate)
  })
  const parsed = compositeSchema().safeParse(document)
  if (!parsed.success) {
    return refused(schemaProblems(parsed.error))
  }
  const found: Diagnostic[] = []
  const { name, version } = parsed.data
  const definition: CompositeDefinition = { name, version, ...graphOf(parsed.data, [], found) }
  const wrong = found.length > 0 ? found : validateGraph(definition)
  return wrong.length === 0 ? { ok: true, definition } : refused(wrong)
}

/** What a document's schema refuses, as diagnostics. */
export function schemaProblems({ issues }: z.core.$ZodError): readonly Diagnostic[] {
  return issues.map((issue) => ({
    reason: 'invalid_graph',
    path: issuePath(issue.path, issue),
    message: issue.message
  }))
}

// Points at the unknown key itself, where there is one.
function issuePath(path: readonly PropertyKey[], issue: object): DocumentPath {
  const keys = 'keys' in issue && Array.isArray(issue.keys) ? issue.keys.slice(0, 1) : []
  return [...path, ...keys].map((key) => (typeof key === 'number' ? key : String(key)))
}

function graphOf(
  document: GraphDocument,
  path: DocumentPath,
  found: Diagnostic[]
): GraphDefinition {
  const names = Object.keys(document.nodes)
  if (names.length > limits.GRAPH_NODES_MAX) {
    found.push({
      reason: 'invalid_graph',
      path: [...path, 'nodes'],
      message: `a graph has at most ${limits.GRAPH_NODES_MAX} nodes, this one ${names.length}`
    })
  }
  const nodes = Object.entries(document.nodes).map(([name, node]): [string, NodeDefinition] => [
    name,
    nodeOf(node, [...path, 'nodes', name], found)
  ])
  const transitions = Object.entries(document.transitions).map(
    ([name, transition]): [string, readonly BranchDefinition[]] => [name, branchesOf(transition)]
  )
  return {
    maxSteps: document.max_steps,
    atomic: document.atomic,
    entryPoint: document.entry_point,
    nodes: Object.fromEntries(nodes),
    transitions: Object.fromEntries(transitions),
    ...(document.output === undefined ? {} : { output: document.output })
  }
}

export type NodeDocument = GraphDocument['nodes'][string]

/** A node of a document; what is wrong with it goes to `found`. */
export function nodeOf(
  node: NodeDocument,
  path: DocumentPath,
  found: Diagnostic[]
): NodeDefinition {
  const { input, on_error: onError, timeout_ms: timeoutMs, side_effects: sideEffects } = node
  const work = workOf(node, path, found)
  if (node.confirm !== undefined && work.kind !== 'block') {
    found.push({
      reason: 'invalid_graph',
      path: [...path, 'confirm'],
      message: 'only a node that is a block can ask for confirmation; confirm the nodes inside'
    })
  }
  return {
    work,
    ...(input === undefined ? {} : { input }),
    context: node.context ?? [],
    recovery: (node.recovery ?? []).map(recoveryOf),
    onError: onError ?? 'stop',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(node.confirm === undefined ? {} : { confirm: confirmOf(node.confirm) }),
    ...(sideEffects === undefined ? {} : { sideEffects }),
    ...(node.deferred === true ? { deferred: true } : {})
  }
}

function workOf(node: NodeDocument, path: DocumentPath, found: Diagnostic[]): WorkDefinition {
  const { block, use, composite } = node
  const given = [block, use, composite].filter((work) => work !== undefined)
  if (given.length !== 1) {
    found.push({
      reason: 'invalid_graph',
      path,
      message: 'a node has exactly one of block, use and composite'
    })
  }
  if (composite !== undefined) {
    return { kind: 'composite', graph: graphOf(composite, [...path, 'composite'], found) }
  }
  if (use !== undefined) return { kind: 'use', use }
  return { kind: 'block', block: block ?? '' }
}

type RetryPolicyDocument = NonNullable<NodeDocument['recovery']>[number]

function recoveryOf(entry: RetryPolicyDocument): RetryPolicyStep {
  if (entry === 'bubble') return { kind: 'bubble' }
  const errors = entry.errors === undefined ? {} : { errors: entry.errors }
  if ('retry' in entry) {
    const { max_attempts, interval_ms, backoff, max_interval_ms } = entry.retry
    return {
      kind: 'retry',
      maxAttempts: max_attempts,
      intervalMs: interval_ms,
      backoff,
      ...(max_interval_ms === undefined ? {} : { maxIntervalMs: max_interval_ms }),
      ...errors
    }
  }
  if ('repair' in entry) return { kind: 'repair', repair: entry.repair, ...errors }
  if ('fallback' in entry) return { kind: 'fallback', providers: entry.fallback, ...errors }
  return { kind: 'bubble', ...errors }
}

function branchesOf(transition: GraphDocument['transitions'][string]): readonly BranchDefinition[] {
  if (typeof transition === 'string')
    return [{ condition: { kind: 'default' }, target: transition }]
  return transition.map(({ condition, target }) => ({ condition: conditionOf(condition), target }))
}

function conditionOf(condition: string | { readonly cel: string }): ConditionDefinition {
  if (typeof condition !== 'string') return { kind: 'cel', cel: condition.cel }
  return condition === 'default' ? { kind: 'default' } : { kind: 'named', name: condition }
}

function confirmOf(
  confirm: NonNullable<NodeDocument['confirm']>
): NonNullable<NodeDefinition['confirm']> {
  if (confirm === true) return {}
  const { message, when, approvers } = confirm
  return {
    ...(message === undefined ? {} : { message }),
    ...(when === undefined ? {} : { when: conditionOf(when) }),
    ...approversIn(approvers)
  }
}

export type ParsedPlan =
  | { readonly ok: true; readonly definition: PlanDefinition }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Reads a `tally-plan/1` document (already plain JSON) and checks its graph (C2). Diagnostics carry
 * line and column when `locate` finds paths in the document's text. Never throws for bad data.
 */
export function parsePlan(document: Json, options: { readonly locate?: Locate } = {}): ParsedPlan {
  const refused = (diagnostics: readonly Diagnostic[]): ParsedPlan => ({
    ok: false,
    diagnostics: reportedDiagnostics(diagnostics, options.locate)
  })
  const parsed = planSchema().safeParse(document)
  if (!parsed.success) return refused(schemaProblems(parsed.error))
  const found: Diagnostic[] = []
  const { name, version, order, parallel, atomic, lanes, nodes, output } = parsed.data
  const definition: PlanDefinition = {
    schema: planSchemaName,
    name,
    version,
    order,
    parallel,
    atomic,
    lanes,
    nodes: nodes.map((node, nodeIndex) => planNodeOf(node, ['nodes', nodeIndex], found)),
    ...(output === undefined ? {} : { output })
  }
  const wrong = found.length > 0 ? found : validatePlan(definition)
  return wrong.length === 0 ? { ok: true, definition } : refused(wrong)
}

function planNodeOf(
  node: PlanDocument['nodes'][number],
  path: DocumentPath,
  found: Diagnostic[]
): PlanNodeDefinition {
  const { id, deps, lane, on_error: onError = 'stop', ...rest } = node
  return {
    ...nodeOf(rest, path, found),
    id,
    deps,
    onError,
    ...(lane === undefined ? {} : { lane })
  }
}
