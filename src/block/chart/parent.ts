import type { NodeOptions, Request, Response } from '../../code/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import {
  askDecision,
  askTimer,
  type BlockAction,
  type ChartLibrary,
  type ChartQuestions,
  type ChartRun,
  Decisions,
  heldFailure,
  type Sink,
  sends,
  settling,
  sharedActions,
  sharedGuards
} from './chart-run.js'
import type { PlannedNode } from './composite-graph.js'
import type { CompositeEvent, ExecuteEvent } from './protocol.js'

/** What composites and plans have in common: overlay, functions of their charts, children. */

export interface ParentRun extends ChartRun {
  /** What an overlay is to commit. */
  readonly held: Response | null
  /** When the overlay's commit or abort was asked for: asked again alike after a restart. */
  readonly scopeAt: number
}

/** Commits or drops the overlay of an atomic parent; asked again after a restore. */
function askOverlay(context: ParentRun, kind: 'scope.commit' | 'scope.abort', sink: Sink): void {
  const { identity, step, attempt, scopeAt } = context
  const response = kind === 'scope.commit' ? context.held : heldFailure(context)
  if (response === null) return
  sink.ask({ kind, path: identity.path, step, attempt, response, at: scopeAt })
}

/** What a restored parent itself waits for; its children ask for themselves. */
export function askParentAgain(key: string, context: ParentRun, sink: Sink): void {
  switch (key) {
    case 'WAITING.retry':
      askTimer(context, sink)
      return
    case 'WAITING.decision':
      askDecision(context, sink)
      return
    case 'BUSY.commit':
      askOverlay(context, 'scope.commit', sink)
      return
    case 'BUSY.abort':
      askOverlay(context, 'scope.abort', sink)
      return
  }
}

/** What follows the failure that a parent holds. */
export function parentDecisions<Context extends ParentRun>(
  library: ChartLibrary
): Decisions<Context> {
  return new Decisions(library, (context, event) => ({
    response: heldFailure(context),
    sent: event.type === 'scope.settled' ? event.sent : undefined,
    canFallBack: false
  }))
}

/** What a parent's chart asks of its graph, its context and the event at hand. */
export interface ParentQuestions<Context extends ParentRun> extends ChartQuestions<Context> {
  /** Its commit is one receipt (C4). */
  readonly isOutermostOverlay: boolean
  /** The response of the whole. */
  result(context: Context, event: CompositeEvent): Response
}

/** Guards that composites and plans share, by the names of both charts. */
export function parentGuards<Context extends ParentRun>(questions: ParentQuestions<Context>) {
  return {
    scopeSucceeds: (_: Context, event: CompositeEvent) =>
      event.type === 'scope.settled' && event.response.success,
    ...sharedGuards(questions)
  }
}

/** Actions that composites and plans share, by the names of both charts. */
export function parentActions<Context extends ParentRun>(questions: ParentQuestions<Context>) {
  const settles = settling(questions)
  const asksOverlay =
    (kind: 'scope.commit' | 'scope.abort'): BlockAction<Context> =>
    (context, event, _params, sink) => {
      const asked = { ...context, scopeAt: event.at }
      askOverlay(asked, kind, sink)
      return asked
    }
  return {
    ...sharedActions(questions),
    openScope: sends<Context>(({ identity, step, attempt, request, options }, _event, sink) => {
      if (request === null) return
      const { path, block } = identity
      const { frozenAt } = options
      const time = frozenAt === undefined ? {} : { frozenAt }
      const { isOutermostOverlay: outermost } = questions
      sink.ask({ kind: 'scope.open', path, step, attempt, block, request, outermost, ...time })
    }),
    restart: (context: Context) => questions.restarted(context),
    askCommit: asksOverlay('scope.commit'),
    askAbort: asksOverlay('scope.abort'),
    settleOutput: settles((context, event) => questions.result(context, event)),
    settleScope: settles((context, event) =>
      event.type === 'scope.settled' ? event.response : heldFailure(context)
    )
  }
}

/** What a parent of either kind knows of a node that it executes. */
export type ChildNode = Pick<
  PlannedNode,
  'name' | 'block' | 'options' | 'sideEffects' | 'contextKeys' | 'confirmWhen'
>

/** The message that executes a child with a payload. */
export function executionOf(
  parent: ChartRun,
  node: ChildNode,
  { payload, step, at }: { readonly payload: Json; readonly step: number; readonly at: number }
): ExecuteEvent {
  const request = childRequest(parent, node, payload, step)
  return { type: 'block.execute', request, step, options: childOptions(parent, node, request), at }
}

/** The request of a child (B1): same run and trace, context pruned to what the node declares. */
function childRequest(parent: ChartRun, node: ChildNode, payload: Json, step: number): Request {
  const request = parent.request ?? emptyRequest
  const { metadata } = request
  const path = `${parent.identity.path}/${node.name}`
  return {
    payload,
    context: prunedContext(request.context, node.contextKeys),
    metadata: {
      id: `${metadata.runId}:${path}:${step}`,
      traceId: metadata.traceId,
      spanId: `${path}:${step}`,
      parentSpanId: metadata.spanId,
      runId: metadata.runId,
      blockName: node.block,
      nodeName: node.name,
      attempt: 1,
      sideEffectClass: node.options.sideEffects ?? node.sideEffects
    }
  }
}

/** Of a parent that nothing has executed. */
export const emptyRequest: Request = {
  payload: null,
  context: {},
  metadata: {
    id: '',
    traceId: '',
    spanId: '',
    runId: '',
    blockName: '',
    nodeName: '',
    attempt: 1,
    sideEffectClass: 'none'
  }
}

/** A node's options with what only the run knows: its parent's terms, and whether to confirm. */
function childOptions(parent: ChartRun, node: ChildNode, request: Request): NodeOptions {
  let { options } = node
  if (node.confirmWhen !== null) {
    const answer = node.confirmWhen(before(request), request)
    // A condition that cannot be evaluated asks: silence must not be taken for consent.
    if (answer.ok && !answer.value) {
      const { confirm: _, ...rest } = options
      options = rest
    }
  }
  const { deadline, frozenAt, passesUnsafe, turns } = parent.options
  if ((deadline ?? frozenAt ?? turns ?? passesUnsafe) === undefined) return options
  return {
    ...options,
    ...(passesUnsafe === undefined ? {} : { passesUnsafe }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(frozenAt === undefined ? {} : { frozenAt }),
    ...(turns === undefined ? {} : { turns })
  }
}

// A confirmation is asked before there is a response; its condition sees the payload in its place.
function before(request: Request): Response {
  return { success: true, data: request.payload, metadata: {} }
}

function prunedContext(context: JsonObject, keys: readonly string[]): JsonObject {
  if (keys.length === 0) return emptyContext
  const kept = keys.filter((key) => Object.hasOwn(context, key))
  return Object.fromEntries(kept.map((key) => [key, context[key] ?? null]))
}

const emptyContext: JsonObject = {}
