import type { RetryPolicyStep } from '../../code/index.js'
import {
  atOnce,
  type Checked,
  checkingSchema,
  isSliceFull,
  type Json,
  limits,
  type Pieces,
  passSteps
} from '../../core/index.js'
import {
  type BranchDefinition,
  type CompositeDefinition,
  type ConditionDefinition,
  type Diagnostic,
  type DocumentPath,
  type GraphDefinition,
  type Locate,
  moreProblems,
  type NodeDefinition,
  type PlanDefinition,
  type PlanNodeDefinition,
  Problems,
  planSchemaName,
  reportingDiagnostics,
  type WorkDefinition
} from './definition.js'
import {
  approversIn,
  compositeSchema,
  type GraphDocument,
  type PlanDocument,
  planSchema
} from './schema.js'
import { problemsOf, validatingGraph, validatingPlan } from './validate.js'

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
  return atOnce(parsingComposite(document, options))
}

/** {@link parseComposite} in pieces: other work may be done wherever it yields. */
export function* parsingComposite(
  document: Json,
  { locate }: { readonly locate?: Locate }
): Pieces<ParsedComposite> {
  const parsed = yield* checkingSchema(compositeSchema(), document)
  if (!parsed.success) return yield* refusing(schemaProblems(parsed), locate)
  const found = new Problems()
  const { name, version } = parsed.data
  const graph = yield* graphOf(parsed.data, [], found)
  const definition: CompositeDefinition = { name, version, ...graph }
  const wrong = found.isEmpty ? yield* validatingGraph(definition) : found.list
  return wrong.length === 0 ? { ok: true, definition } : yield* refusing(wrong, locate)
}

/** What is wrong with a document, as its parser gives it. */
export function* refusing(
  found: readonly Diagnostic[],
  locate: Locate | undefined
): Pieces<{ readonly ok: false; readonly diagnostics: readonly Diagnostic[] }> {
  return { ok: false, diagnostics: yield* reportingDiagnostics(found, locate) }
}

/** What a document's schema refuses, as diagnostics. */
export function schemaProblems({
  issues,
  hidden
}: Checked<unknown> & { readonly success: false }): readonly Diagnostic[] {
  const found = issues.map((issue): Diagnostic => {
    return { reason: 'invalid_graph', path: issuePath(issue.path, issue), message: issue.message }
  })
  return hidden === 0 ? found : [...found, moreProblems(hidden)]
}

// Points at the unknown key itself, where there is one.
function issuePath(path: readonly PropertyKey[], issue: object): DocumentPath {
  const keys = 'keys' in issue && Array.isArray(issue.keys) ? issue.keys.slice(0, 1) : []
  return [...path, ...keys].map((key) => (typeof key === 'number' ? key : String(key)))
}

function* graphOf(
  document: GraphDocument,
  path: DocumentPath,
  found: Problems
): Pieces<GraphDefinition> {
  const entries = Object.entries(document.nodes)
  if (entries.length > limits.GRAPH_NODES_MAX) {
    const count = `${limits.GRAPH_NODES_MAX} nodes, this one ${entries.length}`
    found.refuse('invalid_graph', [...path, 'nodes'], `a graph has at most ${count}`)
  }
  const nodes: [string, NodeDefinition][] = []
  for (const [name, node] of entries) {
    const onError = node.on_error ?? 'stop'
    // Spread last, or each node has a hidden class of its own and all that look at nodes are slow.
    nodes.push([name, { onError, ...(yield* nodeOf(node, [...path, 'nodes', name], found)) }])
  }
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

type NodeDocument = GraphDocument['nodes'][string]

/** Work of a node that becomes one of a definition. */
const STEPS_OF_NODE = 16

/** A node of a document; what is wrong with it goes to `found`. */
function* nodeOf(
  node: Omit<NodeDocument, 'on_error'>,
  path: DocumentPath,
  found: Problems
): Pieces<Omit<NodeDefinition, 'onError'>> {
  passSteps(STEPS_OF_NODE)
  if (isSliceFull()) yield
  const { input, timeout_ms: timeoutMs, side_effects: sideEffects } = node
  const work = yield* workOf(node, path, found)
  if (node.confirm !== undefined && work.kind !== 'block') {
    const message = 'only a node that is a block can ask for confirmation; confirm the nodes inside'
    found.refuse('invalid_graph', [...path, 'confirm'], message)
  }
  return {
    work,
    context: node.context ?? [],
    recovery: (node.recovery ?? []).map(recoveryOf),
    ...(input === undefined ? {} : { input }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(node.confirm === undefined ? {} : { confirm: confirmOf(node.confirm) }),
    ...(sideEffects === undefined ? {} : { sideEffects }),
    ...(node.deferred === true ? { deferred: true } : {})
  }
}

function* workOf(
  { block, use, composite }: Pick<NodeDocument, 'block' | 'use' | 'composite'>,
  path: DocumentPath,
  found: Problems
): Pieces<WorkDefinition> {
  const given = [block, use, composite].filter((work) => work !== undefined)
  if (given.length !== 1) {
    found.refuse('invalid_graph', path, 'a node has exactly one of block, use and composite')
  }
  if (composite !== undefined) {
    return { kind: 'composite', graph: yield* graphOf(composite, [...path, 'composite'], found) }
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
  return atOnce(parsingPlan(document, options))
}

/** {@link parsePlan} in pieces: other work may be done wherever it yields. */
export function* parsingPlan(
  document: Json,
  { locate }: { readonly locate?: Locate }
): Pieces<ParsedPlan> {
  const parsed = yield* checkingSchema(planSchema(), document)
  if (!parsed.success) return yield* refusing(schemaProblems(parsed), locate)
  const found = new Problems()
  const { name, version, order, parallel, atomic, lanes, nodes, output } = parsed.data
  const planned: PlanNodeDefinition[] = []
  for (const [nodeIndex, node] of nodes.entries()) {
    planned.push(yield* planNodeOf(node, ['nodes', nodeIndex], found))
  }
  const definition: PlanDefinition = {
    schema: planSchemaName,
    name,
    version,
    order,
    parallel,
    atomic,
    lanes,
    nodes: planned,
    ...(output === undefined ? {} : { output })
  }
  const wrong = found.isEmpty ? problemsOf(yield* validatingPlan(definition)) : found.list
  return wrong.length === 0 ? { ok: true, definition } : yield* refusing(wrong, locate)
}

function* planNodeOf(
  node: PlanDocument['nodes'][number],
  path: DocumentPath,
  found: Problems
): Pieces<PlanNodeDefinition> {
  const { id, deps, lane, on_error: onError = 'stop' } = node
  return {
    id,
    deps,
    onError,
    ...(yield* nodeOf(node, path, found)),
    ...(lane === undefined ? {} : { lane })
  }
}
