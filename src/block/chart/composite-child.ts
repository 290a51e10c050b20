import type { ExecuteEvent, NodeOptions, Request, Response } from '../protocol.js'
import { type PlannedNode, prunedContext } from './composite-plan.js'
import type { CompositeContext, CompositeQuestions } from './composite-questions.js'

/** What a composite gives to a child that it executes. */

/** Counts a step before its child is executed; the child's `step` is the new `childExecutions`. */
export function countedStep(context: CompositeContext, node: string): Partial<CompositeContext> {
  return {
    steps: context.steps + 1,
    childExecutions: context.childExecutions + 1,
    current: node
  }
}

/** The message that executes a child, after the step was counted. */
export function executeEvent(
  questions: CompositeQuestions,
  context: CompositeContext,
  node: PlannedNode,
  at: number
): ExecuteEvent {
  const request = childRequest(questions, context, node)
  const options = childOptions(context, node, request)
  return { type: 'block.execute', request, step: context.childExecutions, options, at }
}

/** The request of a child (B1): same run and trace, context pruned to what the node declares. */
function childRequest(
  questions: CompositeQuestions,
  context: CompositeContext,
  node: PlannedNode
): Request {
  const request = context.request ?? emptyRequest
  const { metadata } = request
  const path = `${context.identity.path}/${node.name}`
  const input = questions.input(context, node)
  return {
    payload: input.ok ? input.value : null,
    context: prunedContext(request.context, node.contextKeys),
    metadata: {
      id: `${metadata.runId}:${path}:${context.childExecutions}`,
      traceId: metadata.traceId,
      spanId: `${path}:${context.childExecutions}`,
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

/** A node's options with what only the run knows: the parent's deadline, and whether to confirm. */
function childOptions(context: CompositeContext, node: PlannedNode, request: Request): NodeOptions {
  const { deadline } = context.options
  let { options } = node
  if (node.confirmWhen !== null) {
    const answer = node.confirmWhen(before(request), request)
    // A condition that cannot be evaluated asks: silence must not be taken for consent.
    if (answer.ok && !answer.value) {
      const { confirm: _, ...rest } = options
      options = rest
    }
  }
  return deadline === undefined ? options : { ...options, deadline }
}

// A confirmation is asked before there is a response; its condition sees the payload in its place.
function before(request: Request): Response {
  return { success: true, data: request.payload, metadata: {} }
}
