import {
  type BlockReport,
  type CancelEvent,
  type CompositeEvent,
  type DecisionMadeEvent,
  type ExecuteEvent,
  failedResponse,
  type NodeOptions,
  type PumpCommand,
  type Request,
  type Response,
  type RootCommand,
  reasons,
  type SideEffectClass,
  type Wait
} from '../protocol.js'
import { initialCursor, type RetryCursor, type RetryDecision, timedOut } from '../retry-policy.js'
import { mergePatch } from './merge-patch.js'

/**
 * What leaf and composite have in common: one execution of a block with its attempts, and the
 * actions that the two charts name alike. Pure: an action returns the next context and tells a
 * {@link Sink} what to send, so the chart, the table and the pure fold run the same code (D1).
 */

/** Who a block is; given once, as its actor's input. */
export interface BlockIdentity {
  /** Ids from the root joined by `/`. */
  readonly path: string
  /** The actor's id: the node's name in its parent, `root` for the root. */
  readonly node: string
  readonly block: string
  readonly sideEffects: SideEffectClass
}

/** Context of a block; plain JSON, so that it survives a restart. */
export interface ChartRun {
  readonly identity: BlockIdentity
  readonly step: number
  readonly request: Request | null
  readonly options: NodeOptions
  readonly attempt: number
  readonly provider: string | null
  readonly cursor: RetryCursor
  /** The failure being recovered from or handed up. */
  readonly failure: Response | null
  readonly wait: Wait | null
}

/** Where actions put what they send. */
export interface Sink {
  ask(ask: PumpCommand): void
  report(report: BlockReport): void
}

const noOptions: NodeOptions = {}

export function idleRun(identity: BlockIdentity): ChartRun {
  return {
    identity,
    step: 0,
    request: null,
    options: noOptions,
    attempt: 0,
    provider: null,
    cursor: initialCursor,
    failure: null,
    wait: null
  }
}

export function begunRun(identity: BlockIdentity, event: ExecuteEvent): ChartRun {
  return {
    identity,
    step: event.step,
    request: event.request,
    options: withDeadline(event.options, event.at),
    attempt: 1,
    provider: null,
    cursor: initialCursor,
    failure: null,
    wait: null
  }
}

function withDeadline(options: NodeOptions, at: number): NodeOptions {
  if (options.timeoutMs === undefined) return options
  const own = at + options.timeoutMs
  return { ...options, deadline: Math.min(own, options.deadline ?? own) }
}

export function classOf(context: ChartRun): SideEffectClass {
  return context.options.sideEffects ?? context.identity.sideEffects
}

/** The next attempt: same request, attempt number one up. */
export function nextAttempt<Context extends ChartRun>(
  context: Context,
  change: {
    readonly cursor?: RetryCursor
    readonly request?: Request
    readonly provider?: string
  }
): Context {
  const attempt = context.attempt + 1
  const request = change.request ?? context.request
  return {
    ...context,
    attempt,
    request: request === null ? null : { ...request, metadata: { ...request.metadata, attempt } },
    provider: change.provider ?? context.provider,
    cursor: change.cursor ?? context.cursor,
    failure: null,
    wait: null
  }
}

export function plannedRetry<Context extends ChartRun>(
  context: Context,
  decision: RetryDecision
): Context {
  if (decision.kind !== 'retry') return context
  const wait: Wait = {
    reason: 'retry',
    request: { attempt: context.attempt, delay_ms: decision.delayMs },
    actions: ['cancel'],
    due: decision.due
  }
  return { ...context, cursor: decision.cursor, wait }
}

export function heldForDecision<Context extends ChartRun>(
  context: Context,
  decision: RetryDecision
): Context {
  if (decision.kind !== 'ask') return context
  const { response } = decision
  const { deadline } = context.options
  const wait: Wait = {
    reason: 'decision',
    request: {
      attempt: context.attempt,
      reason: response.reason ?? null,
      details: response.details ?? null
    },
    actions: ['retry', 'patch', 'skip', 'abort'],
    ...(deadline === undefined ? {} : { due: deadline })
  }
  return { ...context, cursor: decision.cursor, failure: response, wait }
}

export function patched<Context extends ChartRun>(
  context: Context,
  event: DecisionMadeEvent
): Context {
  const { request } = context
  if (request === null || event.patch === undefined) return nextAttempt(context, {})
  return nextAttempt(context, {
    request: { ...request, payload: mergePatch(request.payload, event.patch) }
  })
}

export function askTimer(context: ChartRun, sink: Sink): void {
  sink.ask({
    kind: 'timer',
    path: context.identity.path,
    step: context.step,
    attempt: context.attempt,
    due: context.wait?.due ?? 0,
    reason: 'retry'
  })
}

export function askDecision(context: ChartRun, sink: Sink): void {
  if (context.failure === null || context.wait === null) return
  sink.ask({
    kind: 'decision',
    path: context.identity.path,
    step: context.step,
    attempt: context.attempt,
    response: context.failure,
    wait: context.wait
  })
}

/** Opens an overlay for what a block is about to execute (C4). */
export function askOverlayOpen(context: ChartRun, outermost: boolean, sink: Sink): void {
  const { identity, step, attempt, request, options } = context
  if (request === null) return
  const { path, block } = identity
  const { frozenAt } = options
  const time = frozenAt === undefined ? {} : { frozenAt }
  sink.ask({ kind: 'scope.open', path, step, attempt, block, request, outermost, ...time })
}

export function askCancel(context: ChartRun, event: CancelEvent, sink: Sink): void {
  const { identity, step } = context
  sink.ask({ kind: 'cancel', path: identity.path, step, reason: event.reason })
}

export function reportSettled(context: ChartRun, response: Response, at: number, sink: Sink): void {
  const { identity, step } = context
  sink.report({ type: 'block.settled', node: identity.node, step, response, at })
}

/** `sent`: something is under way outside, so that a parent that stops lets it end (W9). */
export function reportWaiting(context: ChartRun, at: number, sink: Sink, sent = false): void {
  const { identity, wait } = context
  if (wait === null) return
  const { node } = identity
  sink.report({ type: 'block.waiting', node, wait, ...(sent ? { sent } : {}), at })
}

export function reportResumed(context: ChartRun, at: number, sink: Sink): void {
  sink.report({ type: 'block.resumed', node: context.identity.node, at })
}

/**
 * Executing a BUSY or WAITING block answers for the new execution and leaves the old alone (B2).
 */
export function refuseBusy(context: ChartRun, event: ExecuteEvent, sink: Sink): void {
  const { path, node } = context.identity
  sink.report({
    type: 'block.settled',
    node,
    step: event.step,
    response: failedResponse(reasons.blockBusy, { path }),
    at: event.at
  })
}

export function cancelledResponse(event: CancelEvent): Response {
  return failedResponse(reasons.cancelled, { reason: event.reason })
}

/** A skipped block succeeded with nothing, by a person's decision. */
export const skippedResponse: Response = { success: true, data: null, metadata: { skipped: true } }

export function heldFailure(context: ChartRun): Response {
  return context.failure ?? failedResponse('failed')
}

export function timedOutResponse(context: ChartRun): Response {
  return timedOut(context.options, context.failure)
}

/** A report as the pump hears it from the root, which has no parent. */
export function rootCommand(path: string, report: BlockReport): RootCommand {
  switch (report.type) {
    case 'block.settled':
      return {
        kind: 'settled',
        path,
        step: report.step,
        response: report.response,
        at: report.at
      }
    case 'block.waiting':
      return { kind: 'waiting', path, wait: report.wait, at: report.at }
    case 'block.resumed':
      return { kind: 'resumed', path, at: report.at }
  }
}

/** Logical time of an event; every event of the protocol carries it. */
export function timeOf(event: CompositeEvent): number {
  return event.at
}
