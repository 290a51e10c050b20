import type { AnyActorLogic } from 'xstate'
import type { ChartNode } from '../../../machines/composite.js'
import { failedResponse, type Response, reasons } from '../../code/index.js'
import { type Json, objectOf, type Pieces } from '../../core/index.js'
import {
  begunRun,
  cancelledResponse,
  type Decisions,
  heldFailure,
  reportWaiting,
  sends
} from './chart-run.js'
import { asJson } from './composite-graph.js'
import type { Evaluated } from './expressions.js'
import { type ParentQuestions, parentActions, parentDecisions, parentGuards } from './parent.js'
import { makingParentLogic, type ParentLogic, type ParentSink } from './parent-table.js'
import {
  hasEnded,
  idlePlan,
  type NodeState,
  type PlanContext,
  type PlanLibrary,
  type PlanNode,
  Progress
} from './plan-progress.js'
import type { PlanNodeResult } from './plan-results.js'
import type { CompositeEvent, Wait } from './protocol.js'
import type { RetryDecision } from './retry-policy.js'
import { itemAt, itemsOf } from './rows.js'

/** What a plan's guards and actions ask of its graph, its context and the event at hand. */
export class PlanQuestions implements ParentQuestions<PlanContext> {
  readonly library: PlanLibrary
  // Asked by a guard and then by an action: computed once for each context.
  readonly #outputs = new WeakMap<PlanContext, Evaluated<Json>>()
  readonly isOutermostOverlay: boolean
  readonly #decisions: Decisions<PlanContext>

  constructor(library: PlanLibrary) {
    this.library = library
    this.isOutermostOverlay = library.isOutermostOverlay
    this.#decisions = parentDecisions(library)
  }

  /** The plan's output once every node has ended; null when it has none. */
  output(context: PlanContext): Evaluated<Json> | null {
    const { output } = this.library
    if (output === null || context.open > 0) return null
    const known = this.#outputs.get(context)
    if (known !== undefined) return known
    const value = output.evaluate({
      request: context.request === null ? null : asJson(context.request),
      nodes: this.#responses(context)
    })
    this.#outputs.set(context, value)
    return value
  }

  /** The plan's response once every node has ended well, or was let fail. */
  result(context: PlanContext): Response {
    const output = this.output(context)
    const data = output?.ok === true ? output.value : { nodes: this.ends(context, true) }
    return { success: true, data, metadata: {} }
  }

  /** The plan's failure, with how every node stands. */
  stopped(context: PlanContext): Response {
    const failure = heldFailure(context)
    return { ...failure, details: { ...failure.details, nodes: this.ends(context, false) } }
  }

  /** How every node stands in the end, by id. */
  ends(context: PlanContext, withData: boolean): Json {
    const { nodes } = this.library
    const ends: PlanNodeResult[] = []
    for (const state of itemsOf(context.nodes)) {
      const node = nodes[ends.length]
      if (node !== undefined) ends.push(endOf(node, state, { ends, nodes, withData }))
    }
    return objectOf(nodes.map(({ name }, nodeIndex) => [name, plain(ends[nodeIndex])] as const))
  }

  decision(context: PlanContext, event: CompositeEvent): RetryDecision {
    return this.#decisions.of(context, event)
  }

  /** Every node anew: another attempt of the whole plan, with steps of its own. */
  restarted(context: PlanContext): PlanContext {
    const { library } = this
    return {
      ...idlePlan(context.identity),
      step: context.step,
      request: context.request,
      options: context.options,
      attempt: context.attempt,
      provider: context.provider,
      cursor: context.cursor,
      runId: context.runId,
      childExecutions: context.childExecutions + library.nodes.length,
      nodes: library.initial,
      ready: library.roots,
      open: library.nodes.length
    }
  }

  idle(context: PlanContext): PlanContext {
    return idlePlan(context.identity, context)
  }

  #responses(context: PlanContext): Json {
    const { nodes } = this.library
    const responses: [string, Json][] = []
    let nodeIndex = 0
    for (const state of itemsOf(context.nodes)) {
      const node = nodes[nodeIndex]
      nodeIndex += 1
      if (node?.isKept !== true || !hasEnded(state) || state.response === null) continue
      responses.push([node.name, { response: asJson(state.response) }])
    }
    return Object.fromEntries(responses)
  }
}

function endOf(
  node: PlanNode,
  state: NodeState,
  so: {
    readonly ends: readonly PlanNodeResult[]
    readonly nodes: readonly PlanNode[]
    readonly withData: boolean
  }
): PlanNodeResult {
  if (!hasEnded(state)) {
    // The plan was stopped before it began; what depends on something undone is blocked by it.
    const by = node.deps.find((dep) => isUndone(so.ends[dep]))
    const name = by === undefined ? undefined : so.nodes[by]?.name
    return name === undefined ? { status: 'cancelled' } : { status: 'blocked', by: name }
  }
  const { status, response, by } = state
  const { withData } = so
  return {
    status,
    ...(withData && status === 'done' && response !== null ? { data: response.data } : {}),
    ...(status === 'done' || response?.reason === undefined ? {} : { reason: response.reason }),
    ...(by === null ? {} : { by })
  }
}

function isUndone(end: PlanNodeResult | undefined): boolean {
  return end?.status === 'failed' || end?.status === 'blocked'
}

// Plain data; its type only lacks the index signature.
function plain(end: PlanNodeResult | undefined): Json {
  return (end ?? null) as Json
}

export type PlanGuard = (context: PlanContext, event: CompositeEvent) => boolean

/** Guards by the names of `machines/plan.ts`. */
export function planGuards(questions: PlanQuestions): Readonly<Record<string, PlanGuard>> {
  const { library } = questions
  return {
    fails: (context) => context.failure !== null,
    outputFails: (context) => questions.output(context)?.ok === false,
    allSettled: (context) => context.open === 0,
    noneRuns: (context) => context.active === 0,
    onlyWaits: (context) => context.active > 0 && context.active === context.waiting,
    mayStop: (context, event) => {
      if (event.type !== 'block.waiting' || event.sent === true) return false
      const state = itemAt(context.nodes, library.places.get(event.node) ?? -1)
      return state?.status === 'running' && !state.isCancelled
    },
    ...parentGuards(questions)
  }
}

/** The functions that `machines/plan.ts` names, over one compiled plan. Pure, never throwing. */
export type PlanAction = (
  context: PlanContext,
  event: CompositeEvent,
  params: object,
  sink: ParentSink
) => PlanContext

/** Actions by the names of the template. */
export function planActions(questions: PlanQuestions) {
  const { library } = questions
  return {
    ...parentActions(questions),
    ...nodeActions(library),
    begin: (context, event) => {
      if (event.type !== 'block.execute') return context
      const { runId } = event.request.metadata
      const begun = begunRun(context.identity, event)
      const frozenAt = begun.options.frozenAt ?? event.at
      const options =
        library.delivery === 'arrival' ? begun.options : { ...begun.options, frozenAt }
      const childExecutions = runId === context.runId ? context.childExecutions : 0
      return questions.restarted({ ...context, ...begun, options, runId, childExecutions })
    },
    reportWaiting: sends((context, event, sink) =>
      reportWaiting(context, event.at, sink, context.sent > 0)
    ),
    holdFailure: (context, event) =>
      event.type === 'scope.settled' ? { ...context, failure: event.response } : context,
    holdCancelled: (context, event) =>
      event.type === 'block.cancel' ? { ...context, failure: cancelledResponse(event) } : context,
    failStopped: (context) => ({ ...context, failure: questions.stopped(context) }),
    failOutput: (context) => {
      const output = questions.output(context)
      const code = output?.ok === false ? output.code : null
      return { ...context, failure: failedResponse(reasons.outputExecutionError, { code }) }
    },
    holdOutput: (context) => ({ ...context, held: questions.result(context) })
  } satisfies Readonly<Record<string, PlanAction>>
}

/** The actions of a plan that are about its nodes. */
function nodeActions(library: PlanLibrary): Readonly<Record<string, PlanAction>> {
  const nodeIndexOf = (node: string) => library.places.get(node) ?? -1
  return {
    startNodes: (context, event, _params, sink) => {
      if (context.ready.length === 0) return context
      const progress = new Progress(library, context)
      progress.start(sink, event.at)
      return progress.context
    },
    takeSettled: (context, event) => {
      if (event.type !== 'block.settled') return context
      const progress = new Progress(library, context)
      progress.settled(nodeIndexOf(event.node), event.response)
      return progress.context
    },
    takeWaiting: (context, event) => {
      if (event.type !== 'block.waiting') return context
      const progress = new Progress(library, context)
      progress.waits(nodeIndexOf(event.node), event.sent === true)
      return { ...progress.context, childReason: event.wait.reason }
    },
    takeResumed: (context, event) => {
      if (event.type !== 'block.resumed') return context
      const progress = new Progress(library, context)
      progress.resumes(nodeIndexOf(event.node))
      return progress.context
    },
    holdWait: (context) => ({ ...context, wait: waitOf(context) }),
    cancelNode: (context, event, _params, sink) =>
      event.type === 'block.waiting'
        ? cancelled(context, [nodeIndexOf(event.node)], STOPPED, { library, event, sink })
        : context,
    cancelNodes: (context, event, _params, sink) => {
      const reason = event.type === 'block.cancel' ? event.reason : STOPPED
      return cancelled(context, placesOf(context, isUnderWay), reason, { library, event, sink })
    },
    stopNodes: (context, event, _params, sink) => {
      const nodeIndexes = placesOf(context, (state, nodeIndex) => {
        if (state.status === 'waiting') return !state.sent
        // Behind the failure nothing has been sent: such nodes have not had their turn.
        return state.status === 'running' && isBehind(context, library, nodeIndex)
      })
      return cancelled(context, nodeIndexes, STOPPED, { library, event, sink })
    }
  }
}

const STOPPED = 'plan_stopped'

/** What the plan itself waits for: it stands for all its children, which wait for themselves. */
function waitOf({ childReason, waiting }: PlanContext): Wait {
  return { reason: childReason, request: { waiting }, actions: [] }
}

function isUnderWay(state: NodeState): boolean {
  return state.status === 'running' || state.status === 'waiting'
}

function isBehind(context: PlanContext, library: PlanLibrary, nodeIndex: number): boolean {
  if (library.delivery === 'arrival') return false
  const failed = context.failure?.details?.['failed_node']
  const at = typeof failed === 'string' ? library.places.get(failed) : undefined
  return at !== undefined && nodeIndex > at
}

function placesOf(
  context: PlanContext,
  isMeant: (state: NodeState, nodeIndex: number) => boolean
): readonly number[] {
  const nodeIndexes: number[] = []
  let nodeIndex = 0
  for (const state of itemsOf(context.nodes)) {
    if (isMeant(state, nodeIndex)) nodeIndexes.push(nodeIndex)
    nodeIndex += 1
  }
  return nodeIndexes
}

function cancelled(
  context: PlanContext,
  nodeIndexes: readonly number[],
  reason: string,
  {
    library,
    event,
    sink
  }: {
    readonly library: PlanLibrary
    readonly event: CompositeEvent
    readonly sink: Parameters<PlanAction>[3]
  }
): PlanContext {
  const progress = new Progress(library, context)
  for (const nodeIndex of nodeIndexes) {
    const name = library.nodes[nodeIndex]?.name
    if (name === undefined || !progress.cancels(nodeIndex)) continue
    sink.send(name, { type: 'block.cancel', reason, at: event.at })
  }
  return progress.context
}

/** What a plan is made of. */
export interface PlanParts {
  readonly config: ChartNode
  readonly library: PlanLibrary
  /** Logic of the children by `src` name. */
  readonly children: Readonly<Record<string, AnyActorLogic>>
}

/** A plan's chart as a table: what runs, and what the pure fold replays. */
export type PlanLogic = ParentLogic<PlanContext>

export function* makingPlanLogic({ config, library, children }: PlanParts): Pieces<PlanLogic> {
  const questions = new PlanQuestions(library)
  return yield* makingParentLogic<PlanContext, object>({
    config,
    children,
    functions: { guards: planGuards(questions), actions: planActions(questions) },
    child: (name) => library.nodes[library.places.get(name) ?? -1],
    idle: (identity) => idlePlan(identity)
  })
}
