import { type CompositeEvent, failedResponse, type Response, reasons } from '../protocol.js'
import {
  askCancel,
  askDecision,
  askOverlayOpen,
  askTimer,
  begunRun,
  cancelledResponse,
  heldFailure,
  heldForDecision,
  nextAttempt,
  patched,
  plannedRetry,
  refuseBusy,
  reportResumed,
  reportSettled,
  reportWaiting,
  type Sink,
  skippedResponse,
  timedOutResponse
} from './chart-run.js'
import type { CompositeGraph } from './composite-graph.js'
import {
  type CompositeContext,
  type CompositeQuestions,
  idleComposite,
  type NodeParams
} from './composite-questions.js'
import { askOverlay } from './parent.js'
import { withItem } from './rows.js'

/**
 * The functions that `machines/composite.ts` names, over one compiled graph. Pure, never throwing.
 */

export type CompositeAction = (
  context: CompositeContext,
  event: CompositeEvent,
  params: NodeParams,
  sink: Sink
) => CompositeContext

/** A new attempt of the whole graph; the count of child executions continues. */
function restarted(context: CompositeContext, { noResponses }: CompositeGraph): CompositeContext {
  return { ...context, steps: 0, current: null, responses: noResponses, held: null }
}

function failsWith(
  response: (context: CompositeContext, event: CompositeEvent, params: NodeParams) => Response
): CompositeAction {
  return (context, event, params) => ({
    ...context,
    current: null,
    failure: response(context, event, params)
  })
}

function settles(
  response: (context: CompositeContext, event: CompositeEvent) => Response
): CompositeAction {
  return (context, event, _params, sink) => {
    reportSettled(context, response(context, event), event.at, sink)
    return idleComposite(context.identity, context)
  }
}

/** Actions by the names of the template, except those that need the actor's children. */
export function compositeActions(
  questions: CompositeQuestions
): Readonly<Record<string, CompositeAction>> {
  return {
    ...lifecycleActions(questions.plan),
    ...failureActions(questions),
    ...overlayActions(questions),
    keepResponse: (context, event, params) => {
      const place = questions.node(params)?.keptAt ?? null
      return event.type === 'block.settled' && place !== null
        ? { ...context, responses: withItem(context.responses, place, event.response) }
        : context
    },
    settleOutput: settles((context, event) => questions.result(context, event)),
    settleFailure: settles((context, event) => {
      const decision = questions.decision(context, event)
      return decision.kind === 'fail' ? decision.response : heldFailure(context)
    }),
    settleCancelled: settles((context, event) =>
      event.type === 'block.cancel' ? cancelledResponse(event) : heldFailure(context)
    ),
    settleSkipped: settles(() => skippedResponse),
    settleHeld: settles((context) => heldFailure(context)),
    settleTimedOut: settles((context) => timedOutResponse(context))
  }
}

function lifecycleActions(plan: CompositeGraph): Readonly<Record<string, CompositeAction>> {
  return {
    begin: (context, event) => {
      if (event.type !== 'block.execute') return context
      const { runId } = event.request.metadata
      return {
        steps: 0,
        childExecutions: runId === context.runId ? context.childExecutions : 0,
        runId,
        current: null,
        responses: plan.noResponses,
        held: null,
        scopeAt: 0,
        ...begunRun(context.identity, event)
      }
    },
    refuseBusy: (context, event, _params, sink) => {
      if (event.type === 'block.execute') refuseBusy(context, event, sink)
      return context
    },
    reportWaiting: (context, event, _params, sink) => {
      if (event.type === 'block.waiting') {
        reportWaiting({ ...context, wait: event.wait }, event.at, sink, event.sent)
      }
      return context
    },
    reportHeldWait: (context, event, _params, sink) => {
      reportWaiting(context, event.at, sink)
      return context
    },
    reportResumed: (context, event, _params, sink) => {
      reportResumed(context, event.at, sink)
      return context
    },
    askCancel: (context, event, _params, sink) => {
      if (event.type === 'block.cancel') askCancel(context, event, sink)
      return context
    },
    openScope: (context, _event, _params, sink) => {
      askOverlayOpen(context, plan.isOutermostOverlay, sink)
      return context
    }
  }
}

function failureActions(questions: CompositeQuestions): Readonly<Record<string, CompositeAction>> {
  return {
    holdFailure: failsWith((context, event) =>
      event.type === 'block.settled' || event.type === 'scope.settled'
        ? event.response
        : heldFailure(context)
    ),
    failExhausted: failsWith((_context, _event, params) =>
      failedResponse(reasons.maxStepsExceeded, {
        max_steps: questions.plan.maxSteps,
        node: params.node ?? null
      })
    ),
    failInput: failsWith((context, _event, params) => {
      const node = questions.node(params)
      const input = node === undefined ? undefined : questions.input(context, node)
      return failedResponse(reasons.inputExecutionError, {
        node: params.node ?? null,
        code: input?.ok === false ? input.code : null
      })
    }),
    failOutput: failsWith((context, event) => {
      const output = questions.output(context, event)
      return failedResponse(reasons.outputExecutionError, {
        code: output?.ok === false ? output.code : null
      })
    }),
    failCondition: failsWith((context, event, params) => {
      const choice = questions.choice(context, event, params)
      return failedResponse(reasons.conditionExecutionError, {
        node: params.node ?? null,
        ...(choice.kind === 'condition' ? { condition: choice.condition, code: choice.code } : {})
      })
    }),
    failNoTransition: failsWith((_context, _event, params) =>
      failedResponse(reasons.noTransition, { node: params.node ?? null })
    ),
    countAttempt: (context) => restarted(nextAttempt(context, {}), questions.plan),
    planRetry: (context, event) => plannedRetry(context, questions.decision(context, event)),
    repair: (context, event) => {
      const decision = questions.decision(context, event)
      if (decision.kind !== 'repair') return context
      const { request, cursor } = decision
      return restarted(nextAttempt(context, { request, cursor }), questions.plan)
    },
    holdDecision: (context, event) => heldForDecision(context, questions.decision(context, event)),
    patchRequest: (context, event) =>
      event.type === 'decision.made' ? restarted(patched(context, event), questions.plan) : context,
    askTimer: (context, _event, _params, sink) => {
      askTimer(context, sink)
      return context
    },
    askDecision: (context, _event, _params, sink) => {
      askDecision(context, sink)
      return context
    }
  }
}

function overlayActions(questions: CompositeQuestions): Readonly<Record<string, CompositeAction>> {
  return {
    restart: (context) => restarted(context, questions.plan),
    holdOutput: (context, event) => ({
      ...context,
      current: null,
      held: questions.result(context, event)
    }),
    askCommit: (context, event, _params, sink) => {
      const asked = { ...context, scopeAt: event.at }
      askOverlay(asked, 'scope.commit', sink)
      return asked
    },
    askAbort: (context, event, _params, sink) => {
      const asked = { ...context, scopeAt: event.at }
      askOverlay(asked, 'scope.abort', sink)
      return asked
    },
    settleScope: settles((context, event) =>
      event.type === 'scope.settled' ? event.response : heldFailure(context)
    )
  }
}
