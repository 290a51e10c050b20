import type { LeafEvent } from '../protocol.js'
import { decideRetry, type Repair, type RetryDecision } from '../retry-policy.js'
import {
  askCancel,
  askDecision,
  askTimer,
  begunRun,
  type ChartRun,
  cancelledResponse,
  classOf,
  heldFailure,
  heldForDecision,
  idleRun,
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

/** The functions that `machines/block.ts` names. Chart and table both use exactly these. */

export type LeafContext = ChartRun

/** What a leaf needs of the registry. */
export interface LeafLibrary {
  repair(name: string): Repair | undefined
}

export type LeafGuard = (context: LeafContext, event: LeafEvent, library: LeafLibrary) => boolean

export type LeafAction = (
  context: LeafContext,
  event: LeafEvent,
  sink: Sink,
  library: LeafLibrary
) => LeafContext

// One decision for each event and context: guards and the actions after them must agree, and a
// registered repair is called once.
const decisions = new WeakMap<
  object,
  { readonly context: LeafContext; readonly decision: RetryDecision | undefined }
>()

function decide(
  context: LeafContext,
  event: LeafEvent,
  library: LeafLibrary
): RetryDecision | undefined {
  const known = decisions.get(event)
  if (known !== undefined && known.context === context) return known.decision
  const decision = decideAfresh(context, event, library)
  decisions.set(event, { context, decision })
  return decision
}

function decideAfresh(
  context: LeafContext,
  event: LeafEvent,
  library: LeafLibrary
): RetryDecision | undefined {
  if (event.type !== 'attempt.settled' || context.request === null) return undefined
  if (event.response.success) return undefined
  return decideRetry({
    request: context.request,
    response: event.response,
    options: context.options,
    attempt: context.attempt,
    cursor: context.cursor,
    sideEffects: classOf(context),
    at: event.at,
    sent: event.sent,
    canFallBack: true,
    repair: (name) => library.repair(name)
  })
}

export const leafGuards = {
  succeeds: (_, event) => event.type === 'attempt.settled' && event.response.success,
  retriesAtOnce: (context, event, library) => {
    const decision = decide(context, event, library)
    return decision?.kind === 'retry' && decision.delayMs === 0
  },
  retriesLater: (context, event, library) => decide(context, event, library)?.kind === 'retry',
  repairs: (context, event, library) => decide(context, event, library)?.kind === 'repair',
  fallsBack: (context, event, library) => decide(context, event, library)?.kind === 'fallback',
  asks: (context, event, library) => decide(context, event, library)?.kind === 'ask',
  choosesRetry: (_, event) => event.type === 'decision.made' && event.action === 'retry',
  choosesPatch: (_, event) => event.type === 'decision.made' && event.action === 'patch',
  choosesSkip: (_, event) => event.type === 'decision.made' && event.action === 'skip'
} as const satisfies Readonly<Record<string, LeafGuard>>

export type LeafGuardName = keyof typeof leafGuards

/** Runs an action for what it sends; the context stays. */
function sends(
  send: (context: LeafContext, event: LeafEvent, sink: Sink, library: LeafLibrary) => void
): LeafAction {
  return (context, event, sink, library) => {
    send(context, event, sink, library)
    return context
  }
}

/** Settles with a response and forgets the execution: an idle block keeps no payloads. */
function settles(
  response: (
    context: LeafContext,
    event: LeafEvent,
    library: LeafLibrary
  ) => Parameters<typeof reportSettled>[1]
): LeafAction {
  return (context, event, sink, library) => {
    reportSettled(context, response(context, event, library), event.at, sink)
    return idleRun(context.identity)
  }
}

export const leafActions = {
  begin: (context, event) =>
    event.type === 'block.execute' ? begunRun(context.identity, event) : context,
  askAttempt: sends((context, _event, sink) => askAttempt(context, sink)),
  askTimer: sends((context, _event, sink) => askTimer(context, sink)),
  askDecision: sends((context, _event, sink) => askDecision(context, sink)),
  askCancel: sends((context, event, sink) => {
    if (event.type === 'block.cancel') askCancel(context, event, sink)
  }),
  reportWaiting: sends((context, event, sink) =>
    reportWaiting(context, event.at, sink, 'sent' in event && event.sent === true)
  ),
  reportResumed: sends((context, event, sink) => reportResumed(context, event.at, sink)),
  refuseBusy: sends((context, event, sink) => {
    if (event.type === 'block.execute') refuseBusy(context, event, sink)
  }),
  holdWait: (context, event) =>
    event.type === 'attempt.waiting' ? { ...context, wait: event.wait } : context,
  countAttempt: (context, event, _sink, library) => {
    const decision = decide(context, event, library)
    return nextAttempt(context, decision?.kind === 'retry' ? { cursor: decision.cursor } : {})
  },
  planRetry: (context, event, _sink, library) => {
    const decision = decide(context, event, library)
    return decision === undefined ? context : plannedRetry(context, decision)
  },
  repair: (context, event, _sink, library) => {
    const decision = decide(context, event, library)
    if (decision?.kind !== 'repair') return context
    return nextAttempt(context, { request: decision.request, cursor: decision.cursor })
  },
  fallBack: (context, event, _sink, library) => {
    const decision = decide(context, event, library)
    if (decision?.kind !== 'fallback') return context
    return nextAttempt(context, { provider: decision.provider, cursor: decision.cursor })
  },
  holdFailure: (context, event, _sink, library) => {
    const decision = decide(context, event, library)
    return decision === undefined ? context : heldForDecision(context, decision)
  },
  patchRequest: (context, event) =>
    event.type === 'decision.made' ? patched(context, event) : context,
  settle: settles((context, event) =>
    event.type === 'attempt.settled' ? event.response : heldFailure(context)
  ),
  settleFailure: settles((context, event, library) => {
    const decision = decide(context, event, library)
    return decision?.kind === 'fail' ? decision.response : heldFailure(context)
  }),
  settleCancelled: settles((context, event) =>
    event.type === 'block.cancel' ? cancelledResponse(event) : heldFailure(context)
  ),
  settleSkipped: settles(() => skippedResponse),
  settleHeld: settles((context) => heldFailure(context)),
  settleTimedOut: settles((context) => timedOutResponse(context))
} as const satisfies Readonly<Record<string, LeafAction>>

export type LeafActionName = keyof typeof leafActions

export function askAttempt(context: LeafContext, sink: Sink): void {
  const { identity, request } = context
  if (request === null) return
  sink.ask({
    kind: 'attempt',
    path: identity.path,
    step: context.step,
    attempt: context.attempt,
    block: identity.block,
    provider: context.provider,
    request,
    options: context.options,
    sideEffects: classOf(context)
  })
}
