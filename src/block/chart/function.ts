import type { AnyActorLogic } from 'xstate'
import type { ChartNode } from '../../../machines/composite.js'
import {
  type CodeCalledEvent,
  type FunctionCall,
  failedResponse,
  type NodeOptions,
  type Response,
  reasons
} from '../../code/index.js'
import type { Pieces } from '../../core/index.js'
import {
  type BlockIdentity,
  begunRun,
  type ChartLibrary,
  cancelledResponse,
  type Decisions,
  heldFailure,
  idleRun,
  reportWaiting,
  sends,
  settling
} from './chart-run.js'
import {
  executionOf,
  type ParentQuestions,
  type ParentRun,
  parentActions,
  parentDecisions,
  parentGuards
} from './parent.js'
import {
  type ChildTemplate,
  makingParentLogic,
  type ParentLogic,
  type ParentSink
} from './parent-table.js'
import type { CompositeEvent, ExecuteEvent, Wait, WaitReason } from './protocol.js'

/**
 * What the chart of a workflow function does (B12), and of an atomic part of one: its children are
 * those that its code has asked for.
 *
 * - D8: children never outnumber the calls that are open at once: one that has ended serves the
 *   next call of its name and block.
 */

/** Context of a function; plain JSON. */
export interface FunctionContext extends ParentRun {
  readonly runId: string
  /** Executions of children in this run. */
  readonly childExecutions: number
  /** By actor id: every child that was executed. */
  readonly children: Readonly<Record<string, ChildState>>
  /** Children that have not ended. */
  readonly active: number
  /** Of these, those that are WAITING. */
  readonly waiting: number
  readonly childReason: WaitReason
  /** What the code itself waits for, besides children. */
  readonly ownWait: Wait | null
}

/** How a child stands. */
export interface ChildState {
  readonly block: string
  /** The call that it serves; null: it has ended. */
  readonly seq: number | null
  readonly isWaiting: boolean
}

/** What is the same for every call. */
export interface FunctionLibrary extends ChartLibrary {
  /** It is an atomic part: a child of a function. */
  readonly isScope: boolean
}

export function idleFunction(
  identity: BlockIdentity,
  last?: Pick<FunctionContext, 'runId' | 'childExecutions'>
): FunctionContext {
  return {
    ...idleRun(identity),
    runId: last?.runId ?? '',
    childExecutions: last?.childExecutions ?? 0,
    children: {},
    active: 0,
    waiting: 0,
    childReason: 'external',
    ownWait: null,
    held: null,
    scopeAt: 0
  }
}

class FunctionQuestions implements ParentQuestions<FunctionContext> {
  readonly isOutermostOverlay = true
  readonly #decisions: Decisions<FunctionContext>

  constructor(library: FunctionLibrary) {
    this.#decisions = parentDecisions(library)
  }

  decision(context: FunctionContext, event: CompositeEvent) {
    return this.#decisions.of(context, event)
  }

  restarted(context: FunctionContext): FunctionContext {
    return context
  }

  idle(context: FunctionContext): FunctionContext {
    return idleFunction(context.identity, context)
  }

  result(context: FunctionContext): Response {
    return context.failure ?? context.held ?? heldFailure(context)
  }
}

type FunctionAction = (
  context: FunctionContext,
  event: CompositeEvent,
  params: object,
  sink: ParentSink
) => FunctionContext

function functionGuards(questions: FunctionQuestions) {
  return {
    onlyWaits: ({ active, waiting, ownWait }: FunctionContext) =>
      active === waiting && (active > 0 || ownWait !== null),
    noneRuns: ({ active }: FunctionContext) => active === 0,
    commits: ({ active, failure, held }: FunctionContext) =>
      active === 0 && failure === null && held !== null,
    ...parentGuards(questions)
  }
}

function functionActions(questions: FunctionQuestions, library: FunctionLibrary) {
  const settles = settling<FunctionContext>(questions)
  return {
    ...parentActions<FunctionContext>(questions),
    ...childActions(library),
    begin: (context, event) => (event.type === 'block.execute' ? begun(context, event) : context),
    askAttempt: sends(({ identity, step, attempt, request, options }, _event, sink) => {
      if (request === null) return
      const { path, block, sideEffects } = identity
      const asked = { path, step, attempt, block, provider: null, request, options, sideEffects }
      sink.ask({ kind: 'attempt', ...asked })
    }),
    takeOwnWait: (context, event) =>
      event.type === 'attempt.waiting' ? { ...context, ownWait: event.wait } : context,
    endOwnWait: (context) => ({ ...context, ownWait: null }),
    holdWait: (context) => ({ ...context, wait: context.ownWait ?? waitOf(context) }),
    reportWaiting: sends((context, event, sink) => reportWaiting(context, event.at, sink)),
    holdReturned: (context, event) => {
      if (event.type !== 'code.returned') return context
      const { response } = event
      return response.success ? { ...context, held: response } : { ...context, failure: response }
    },
    holdCancelled: (context, event) =>
      event.type === 'block.cancel' ? { ...context, failure: cancelledResponse(event) } : context,
    settleReturned: settles((context) => questions.result(context)),
    settleConflict: settles(() => failedResponse(reasons.scopeConflict))
  } satisfies Readonly<Record<string, FunctionAction>>
}

function begun(context: FunctionContext, event: ExecuteEvent): FunctionContext {
  const { runId } = event.request.metadata
  const isSameRun = runId === context.runId
  return {
    ...idleFunction(context.identity),
    ...begunRun(context.identity, event),
    runId,
    childExecutions: isSameRun ? context.childExecutions : 0
  }
}

/** What the function itself waits for: it stands for its children, which wait for themselves. */
function waitOf({ childReason, waiting }: FunctionContext): Wait {
  return { reason: childReason, request: { waiting }, actions: [] }
}

/** The actions that are about children. */
function childActions(library: FunctionLibrary): Readonly<Record<string, FunctionAction>> {
  return {
    takeCall: (context, event, _params, sink) => {
      if (event.type !== 'code.called') return context
      const { call, at } = event
      const scope = call.kind === 'scope' || library.isScope ? undefined : call.scope
      if (scope === undefined) return executed(context, event, sink)
      // It is about an atomic part, which is a child.
      const node = nodeServing(context, scope)
      if (node === undefined) return context
      const { response } = call.kind === 'return' ? call : { response: undefined }
      if (response === undefined) sink.send(node, event)
      else sink.send(node, { type: 'code.returned', response, at })
      return context
    },
    takeSettled: (context, event, _params, sink) => {
      if (event.type !== 'block.settled') return context
      const { node, response, at } = event
      const child = context.children[node]
      if (child === undefined || child.seq === null) return context
      const { path } = context.identity
      const answer = { ...response, metadata: {} }
      sink.ask({ kind: 'answer', path, seq: child.seq, response: answer, at })
      const ended = { ...child, seq: null, isWaiting: false }
      return {
        ...withChild(context, node, ended),
        active: context.active - 1,
        waiting: context.waiting - (child.isWaiting ? 1 : 0)
      }
    },
    takeWaiting: (context, event) => {
      if (event.type !== 'block.waiting') return context
      const childReason = event.wait.reason
      return { ...nowWaiting(context, event.node, true), childReason }
    },
    takeResumed: (context, event) =>
      event.type === 'block.resumed' ? nowWaiting(context, event.node, false) : context,
    cancelChildren: (context, event, _params, sink) => {
      const reason = event.type === 'block.cancel' ? event.reason : 'function_ended'
      for (const [node, { seq }] of Object.entries(context.children)) {
        if (seq !== null) sink.send(node, { type: 'block.cancel', reason, at: event.at })
      }
      return context
    }
  }
}

function nodeServing({ children }: FunctionContext, seq: number): string | undefined {
  return Object.keys(children).find((node) => children[node]?.seq === seq)
}

function withChild(context: FunctionContext, node: string, child: ChildState): FunctionContext {
  return { ...context, children: { ...context.children, [node]: child } }
}

function nowWaiting(context: FunctionContext, node: string, isWaiting: boolean): FunctionContext {
  const child = context.children[node]
  if (child === undefined || child.seq === null || child.isWaiting === isWaiting) return context
  const waiting = context.waiting + (isWaiting ? 1 : -1)
  return { ...withChild(context, node, { ...child, isWaiting }), waiting }
}

/** Executes the child that a call asks for. */
function executed(
  context: FunctionContext,
  { seq, call, at }: CodeCalledEvent,
  sink: ParentSink
): FunctionContext {
  if (call.kind === 'return') return context
  const template = templateOf(context, call)
  const step = context.childExecutions + 1
  const { name: node, block, sideEffects } = template
  const planned = {
    name: node,
    block,
    sideEffects,
    options: { ...optionsOf(call, at), serves: seq },
    contextKeys: call.kind === 'step' ? (call.context ?? []) : Object.keys(contextOf(context)),
    confirmWhen: null
  }
  const payload = call.kind === 'step' ? call.input : (context.request?.payload ?? null)
  sink.send(node, executionOf(context, planned, { payload, step, at }), template)
  return {
    ...withChild(context, node, { block, seq, isWaiting: false }),
    childExecutions: step,
    active: context.active + 1
  }
}

function contextOf({ request }: FunctionContext) {
  return request?.context ?? {}
}

/** All that is in an atomic part sees one time (C2). */
function optionsOf(call: FunctionCall, at: number): NodeOptions {
  if (call.kind === 'step') return call.options ?? noOptions
  return { frozenAt: at }
}

const noOptions: NodeOptions = {}

/** The actor of a call: one that has ended and is of the same block, or a new one. */
function templateOf(
  { children, identity }: FunctionContext,
  call: Extract<FunctionCall, { readonly kind: 'step' | 'scope' }>
): ChildTemplate {
  const { name } = call
  const isStep = call.kind === 'step'
  const block = isStep ? call.block : `${identity.block}.${name}`
  const sideEffects = isStep ? call.sideEffects : identity.sideEffects
  const src = isStep ? 'leaf' : 'scope'
  for (let count = 1; ; count += 1) {
    // No name of a step has a point.
    const node = count === 1 ? name : `${name}.${count}`
    const known = Object.hasOwn(children, node) ? children[node] : undefined
    if (known === undefined || (known.seq === null && known.block === block)) {
      return { name: node, block, sideEffects, src }
    }
  }
}

export type FunctionLogic = ParentLogic<FunctionContext>

/** A function's chart as a table: what runs, and what the pure fold replays. */
export function* makingFunctionLogic({
  config,
  library,
  children
}: {
  readonly config: ChartNode
  readonly library: FunctionLibrary
  /** Logic of the children by `src` name. */
  readonly children: Readonly<Record<string, AnyActorLogic>>
}): Pieces<FunctionLogic> {
  const questions = new FunctionQuestions(library)
  return yield* makingParentLogic<FunctionContext, object>({
    config,
    children,
    functions: {
      guards: functionGuards(questions),
      actions: functionActions(questions, library)
    },
    child: () => undefined,
    idle: (identity) => idleFunction(identity)
  })
}
