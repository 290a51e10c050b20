import type { Json } from '../../core/index.js'
import type { ExecuteEvent, NodeOptions, Request, Response } from '../protocol.js'
import type { ChartRun } from './chart-run.js'
import { type PlannedNode, prunedContext } from './composite-graph.js'
import type { CompositeContext, CompositeQuestions } from './composite-questions.js'

/** What a block gives to a child that it executes. */

/** Counts a step before its child is executed; the child's `step` is the new `childExecutions`. */
export function countedStep(
  context: CompositeContext,
  node: string
): Pick<CompositeContext, 'steps' | 'childExecutions' | 'current'> {
  return {
    steps: context.steps + 1,
    childExecutions: context.childExecutions + 1,
    current: node
  }
}

/** {@link countedStep} in its context. Written out: a spread is most of what a step costs here. */
export function afterCounting(context: CompositeContext, node: string): CompositeContext {
  const { steps, childExecutions, current } = countedStep(context, node)
  return {
    identity: context.identity,
    step: context.step,
    request: context.request,
    options: context.options,
    attempt: context.attempt,
    provider: context.provider,
    cursor: context.cursor,
    failure: context.failure,
    wait: context.wait,
    runId: context.runId,
    responses: context.responses,
    held: context.held,
    scopeAt: context.scopeAt,
    steps,
    childExecutions,
    current
  }
}

/** The message that executes a child, after the step was counted. */
export function executeEvent(
  questions: CompositeQuestions,
  context: CompositeContext,
  node: PlannedNode,
  at: number
): ExecuteEvent {
  const step = context.childExecutions
  const input = questions.input(context, node)
  return executionOf(context, node, { payload: input.ok ? input.value : null, step, at })
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

const emptyRequest: Request = {
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
