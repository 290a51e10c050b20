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
} from '../../chart/chart-run.js'
import { askOverlay } from '../../chart/parent.js'
import { type CompositeEvent, failedResponse, type Response, reasons } from '../../protocol.js'
import type { PlanAction } from './action.js'
import { nodeActions } from './node-actions.js'
import { idlePlan, type PlanContext } from './node-state.js'
import type { PlanQuestions } from './questions.js'

/** Actions by the names of the template. */
export function planActions(questions: PlanQuestions): Readonly<Record<string, PlanAction>> {
  return {
    ...lifecycleActions(questions),
    ...nodeActions(questions.library),
    ...failureActions(questions),
    ...overlayActions(questions),
    settleOutput: settles((context) => questions.result(context)),
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

function settles(response: (context: PlanContext, event: CompositeEvent) => Response): PlanAction {
  return (context, event, _params, sink) => {
    reportSettled(context, response(context, event), event.at, sink)
    return idlePlan(context.identity, context)
  }
}

/** Runs an action for what it sends; the context stays. */
function sends(
  send: (context: PlanContext, event: CompositeEvent, sink: Sink) => void
): PlanAction {
  return (context, event, _params, sink) => {
    send(context, event, sink)
    return context
  }
}

/** Every node anew: another attempt of the whole plan, with steps of its own. */
function restarted(context: PlanContext, { library }: PlanQuestions): PlanContext {
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

function lifecycleActions(questions: PlanQuestions): Readonly<Record<string, PlanAction>> {
  const { library } = questions
  return {
    begin: (context, event) => {
      if (event.type !== 'block.execute') return context
      const { runId } = event.request.metadata
      const begun = begunRun(context.identity, event)
      const frozenAt = begun.options.frozenAt ?? event.at
      const options =
        library.delivery === 'arrival' ? begun.options : { ...begun.options, frozenAt }
      const childExecutions = runId === context.runId ? context.childExecutions : 0
      return restarted({ ...context, ...begun, options, runId, childExecutions }, questions)
    },
    refuseBusy: sends((context, event, sink) => {
      if (event.type === 'block.execute') refuseBusy(context, event, sink)
    }),
    reportWaiting: sends((context, event, sink) =>
      reportWaiting(context, event.at, sink, context.sent > 0)
    ),
    reportResumed: sends((context, event, sink) => reportResumed(context, event.at, sink)),
    askCancel: sends((context, event, sink) => {
      if (event.type === 'block.cancel') askCancel(context, event, sink)
    }),
    openScope: sends((context, _event, sink) => {
      const outermost = library.isOutermostOverlay
      askOverlayOpen(context, outermost, sink)
    })
  }
}

function failureActions(questions: PlanQuestions): Readonly<Record<string, PlanAction>> {
  return {
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
    countAttempt: (context) => restarted(nextAttempt(context, {}), questions),
    planRetry: (context, event) => plannedRetry(context, questions.decision(context, event)),
    repair: (context, event) => {
      const decision = questions.decision(context, event)
      if (decision.kind !== 'repair') return context
      const { request, cursor } = decision
      return restarted(nextAttempt(context, { request, cursor }), questions)
    },
    holdDecision: (context, event) => heldForDecision(context, questions.decision(context, event)),
    patchRequest: (context, event) =>
      event.type === 'decision.made' ? restarted(patched(context, event), questions) : context,
    askTimer: sends((context, _event, sink) => askTimer(context, sink)),
    askDecision: sends((context, _event, sink) => askDecision(context, sink))
  }
}

function overlayActions(questions: PlanQuestions): Readonly<Record<string, PlanAction>> {
  const asks =
    (kind: 'scope.commit' | 'scope.abort'): PlanAction =>
    (context, event, _params, sink) => {
      const asked = { ...context, scopeAt: event.at }
      askOverlay(asked, kind, sink)
      return asked
    }
  return {
    restart: (context) => restarted(context, questions),
    holdOutput: (context) => ({ ...context, held: questions.result(context) }),
    askCommit: asks('scope.commit'),
    askAbort: asks('scope.abort'),
    settleScope: settles((context, event) =>
      event.type === 'scope.settled' ? event.response : heldFailure(context)
    )
  }
}
