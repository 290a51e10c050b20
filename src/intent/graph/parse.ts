import {
  type Diagnostic,
  type DocumentPath,
  type ParsedPlan,
  type PlanDefinition,
  type PlanNodeDefinition,
  Problems,
  planSchemaName,
  problemsOf,
  refusing,
  schemaProblems,
  validatingPlan
} from '../../block/index.js'
import {
  atOnce,
  checkingSchema,
  isSliceFull,
  type Json,
  type JsonObject,
  type Locate,
  type Pieces,
  passSteps
} from '../../core/index.js'
import { intentBlocks } from '../names.js'
import { type GraphDocument, graphSchema } from './schema.js'

type Step = GraphDocument['steps'][number]

/**
 * Reads a `tally-graph/1` document (already plain JSON) as a plan in declared order (C1, C2): its
 * steps are the plan's nodes, an intent is a leaf block `intent`, and the results by step id are
 * its output. Never throws for a bad document.
 */
export function parseGraph(document: Json, options: { readonly locate?: Locate } = {}): ParsedPlan {
  return atOnce(parsingGraph(document, options))
}

/** {@link parseGraph} in pieces: other work may be done wherever it yields. */
export function* parsingGraph(
  document: Json,
  { locate }: { readonly locate?: Locate }
): Pieces<ParsedPlan> {
  const parsed = yield* checkingSchema(graphSchema(), document)
  if (!parsed.success) return yield* refusing(schemaProblems(parsed), locate)
  const graph = parsed.data
  const found = stepProblems(graph)
  yield
  const definition = yield* planOf(graph)
  found.add(problemsOf(yield* validatingPlan(definition)).map(inSteps))
  return found.isEmpty ? { ok: true, definition } : yield* refusing(found.list, locate)
}

/** Work of a step, and of each step that it waits for. */
const STEPS_OF_STEP = 8

function* planOf(graph: GraphDocument): Pieces<PlanDefinition> {
  const { name, version, atomic, parallel, steps } = graph
  const nodes: PlanNodeDefinition[] = []
  for (const step of steps) {
    passSteps(STEPS_OF_STEP)
    if (isSliceFull()) yield
    nodes.push(yield* nodeOf(step, graph))
  }
  return {
    schema: planSchemaName,
    name,
    version,
    order: 'declared',
    parallel,
    atomic,
    lanes: {},
    nodes,
    output: { object: { results: { object: resultsOf(steps) } } }
  }
}

function* nodeOf(step: Step, graph: GraphDocument): Pieces<PlanNodeDefinition> {
  const { id, action, depends_on: deps, timeout_ms: timeoutMs, confirm, deferred } = step
  const sideEffects = step.side_effects ?? (graph.atomic ? 'none' : 'non_idempotent')
  const payload = yield* payloadOf(step)
  return {
    id,
    deps,
    work: { kind: 'block', block: step.block ?? intentBlocks[sideEffects] },
    input: action === undefined ? payload : { object: { action: { lit: action }, payload } },
    context: [],
    recovery: recoveryOf(step, graph),
    onError: 'stop',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(confirm === undefined ? {} : { confirm: confirm === true ? {} : messageOf(confirm) }),
    ...(step.side_effects === undefined ? {} : { sideEffects: step.side_effects }),
    ...(deferred === true ? { deferred } : {})
  }
}

function messageOf({ message }: { readonly message?: string | undefined }) {
  return message === undefined ? {} : { message }
}

/**
 * The step's arguments with what the steps before it returned: `$deps` by id, and `$prev` when
 * there is exactly one. Both are bare results, without envelope and receipt.
 */
function* payloadOf({ args, depends_on: deps }: Step): Pieces<JsonObject> {
  const literals = Object.entries(args).map(([key, value]) => [key, { lit: value }] as const)
  passSteps(literals.length)
  const before: Record<string, Json> = {}
  for (const dep of deps) {
    passSteps(STEPS_OF_STEP)
    if (isSliceFull()) yield
    before[dep] = resultOf(dep)
  }
  const [only] = deps
  return {
    object: {
      ...Object.fromEntries(literals),
      ...(deps.length === 0 ? {} : { $deps: { object: before } }),
      ...(deps.length === 1 && only !== undefined ? { $prev: resultOf(only) } : {})
    }
  }
}

function resultOf(id: string): JsonObject {
  return { ref: `nodes.${id}.response.data` }
}

function resultsOf(steps: readonly Step[]): JsonObject {
  return Object.fromEntries(
    steps.map(({ id, deferred }) => [
      id,
      deferred === true ? { lit: { deferred: true } } : resultOf(id)
    ])
  )
}

function recoveryOf(step: Step, graph: GraphDocument): PlanNodeDefinition['recovery'] {
  const retries = step.retries ?? graph.retries ?? 0
  const intervalMs = step.retry_delay_ms ?? graph.retry_delay_ms ?? 0
  const again =
    retries === 0
      ? []
      : [{ kind: 'retry', maxAttempts: retries + 1, intervalMs, backoff: 'fixed' } as const]
  const { providers } = step
  return providers === undefined ? again : [...again, { kind: 'fallback', providers }]
}

/** What a schema cannot say. */
function stepProblems({ steps, atomic }: GraphDocument): Problems {
  const found = new Problems()
  const refuse = (path: DocumentPath, message: string) => {
    found.refuse('invalid_graph', path, message)
  }
  if (atomic && steps.length < 2) refuse(['steps'], 'an atomic graph has at least two steps')
  for (const [index, { action, block, args }] of steps.entries()) {
    if ((action === undefined) === (block === undefined)) {
      refuse(['steps', index], 'a step has exactly one of action and block')
    }
    const reserved = Object.keys(args).find((key) => key.startsWith('$'))
    if (reserved !== undefined) {
      refuse(['steps', index, 'args', reserved], 'names that begin with $ are reserved')
    }
  }
  return found
}

// The plan's nodes are the document's steps, and so are its paths.
function inSteps(one: Diagnostic): Diagnostic {
  const [first, index, field, ...rest] = one.path
  if (first !== 'nodes') return one
  const named = field === 'deps' ? 'depends_on' : field
  const path = [index, named, ...rest].filter((part) => part !== undefined)
  return { ...one, path: ['steps', ...path] }
}
