import {
  failedResponse,
  type NodeOptions,
  type Request,
  type Response,
  reasons,
  type SideEffectClass
} from '../../code/index.js'
import { mergePatch } from '../../core/index.js'
import type {
  BlockReport,
  CancelEvent,
  CompositeEvent,
  DecisionCommand,
  DecisionMadeEvent,
  ExecuteEvent,
  PumpCommand,
  RootCommand,
  Wait
} from './protocol.js'
import {
  decideRetry,
  type FailedAttempt,
  initialCursor,
  lastDueOf,
  optionsAfter,
  type Repair,
  type RetryCursor,
  type RetryDecision,
  timedOut,
  withDeadline
} from './retry-policy.js'

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
    readonly options?: NodeOptions
  }
): Context {
  const attempt = context.attempt + 1
  const request = change.request ?? context.request
  return {
    ...context,
    attempt,
    request: request === null ? null : { ...request, metadata: { ...request.metadata, attempt } },
    options: change.options ?? context.options,
    provider: change.provider ?? context.provider,
    cursor: change.cursor ?? context.cursor,
    failure: null,
    wait: null
  }
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

export function askDecision(context: ChartRun, sink: Sink, leaf?: Failed): void {
  const { identity, step, attempt, failure: response, wait, request } = context
  if (response === null || wait === null) return
  const failed = request === null ? {} : { failed: { ...leaf, request } }
  const { path } = identity
  sink.ask({ kind: 'decision', path, step, attempt, response, wait, ...failed })
}

type Failed = DecisionCommand['failed']

/** `sent`: something is under way outside, so that a parent that stops lets it end (W9). */
export function reportWaiting(context: ChartRun, at: number, sink: Sink, sent = false): void {
  const { identity, wait } = context
  if (wait === null) return
  const { node } = identity
  sink.report({ type: 'block.waiting', node, wait, ...(sent ? { sent } : {}), at })
}

export function cancelledResponse(event: CancelEvent): Response {
  return failedResponse(reasons.cancelled, { reason: event.reason })
}

export function heldFailure(context: ChartRun): Response {
  return context.failure ?? failedResponse('failed')
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

/** What the charts decide by that is not in them: repairs are registered functions. */
export interface ChartLibrary {
  repair(name: string): Repair | undefined
}

/** A failure as an event shows it; undefined: the event shows none. */
type FailureOf<Context> = (
  context: Context,
  event: CompositeEvent
) => Pick<FailedAttempt, 'response' | 'sent' | 'canFallBack'> | undefined

/**
 * What follows a failure (B8), computed once for an event: a guard asks, and then an action, and a
 * registered repair is called once. By context too, as the same event may be shown to several.
 */
export class Decisions<Context extends ChartRun> {
  readonly #known = new WeakMap<
    object,
    { readonly context: Context; readonly decision: RetryDecision }
  >()
  readonly #library: ChartLibrary
  readonly #failureOf: FailureOf<Context>

  constructor(library: ChartLibrary, failureOf: FailureOf<Context>) {
    this.#library = library
    this.#failureOf = failureOf
  }

  of(context: Context, event: CompositeEvent): RetryDecision {
    const known = this.#known.get(event)
    if (known !== undefined && known.context === context) return known.decision
    const decision = this.#decide(context, event)
    this.#known.set(event, { context, decision })
    return decision
  }

  #decide(context: Context, event: CompositeEvent): RetryDecision {
    const { request, options, attempt, cursor, identity } = context
    const failure = this.#failureOf(context, event)
    if (request === null || failure === undefined) {
      return { kind: 'fail', response: heldFailure(context) }
    }
    return decideRetry({
      request,
      options,
      attempt,
      attemptsMax: attemptsMaxOf(options, context.provider ?? identity.block),
      cursor,
      sideEffects: classOf(context),
      at: event.at,
      repair: (name) => this.#library.repair(name),
      ...failure
    })
  }
}

function attemptsMaxOf({ attempts }: NodeOptions, block: string): number | undefined {
  return attempts !== undefined && Object.hasOwn(attempts, block) ? attempts[block] : undefined
}

/** What a kind of block answers for the guards and actions that all charts name alike. */
export interface ChartQuestions<Context extends ChartRun> {
  decision(context: Context, event: CompositeEvent): RetryDecision
  /** Begins a new attempt, which was counted. */
  restarted(context: Context): Context
  /** Forgets the execution: an idle block keeps no payloads. */
  idle(context: Context): Context
}

/** A function that the charts name. Pure, never throwing; what it sends goes to the sink. */
export type BlockAction<Context> = (
  context: Context,
  event: CompositeEvent,
  params: object,
  sink: Sink
) => Context

/** Runs an action for what it sends; the context stays. */
export function sends<Context>(
  send: (context: Context, event: CompositeEvent, sink: Sink) => void
): BlockAction<Context> {
  return (context, event, _params, sink) => {
    send(context, event, sink)
    return context
  }
}

/** Makes actions that settle with a response. */
export function settling<Context extends ChartRun>(
  questions: Pick<ChartQuestions<Context>, 'idle'>
) {
  return (response: (context: Context, event: CompositeEvent) => Response): BlockAction<Context> =>
    (context, event, _params, sink) => {
      const { identity, step } = context
      const { node } = identity
      const { at } = event
      sink.report({ type: 'block.settled', node, step, response: response(context, event), at })
      return questions.idle(context)
    }
}

export function sharedGuards<Context extends ChartRun>(questions: ChartQuestions<Context>) {
  const decides = (kind: RetryDecision['kind']) => (context: Context, event: CompositeEvent) =>
    questions.decision(context, event).kind === kind
  const chooses = (action: 'retry' | 'patch' | 'skip') => (_: Context, event: CompositeEvent) =>
    event.type === 'decision.made' && event.action === action
  return {
    retriesLater: decides('retry'),
    repairs: decides('repair'),
    asks: decides('ask'),
    choosesRetry: chooses('retry'),
    choosesPatch: chooses('patch'),
    choosesSkip: chooses('skip')
  }
}

export function sharedActions<Context extends ChartRun>(questions: ChartQuestions<Context>) {
  const settles = settling(questions)
  const actions = {
    refuseBusy: sends((context, event, sink) => {
      if (event.type === 'block.execute') refuseBusy(context, event, sink)
    }),
    reportResumed: sends(({ identity }, { at }, sink) =>
      sink.report({ type: 'block.resumed', node: identity.node, at })
    ),
    askCancel: sends(({ identity, step }, event, sink) => {
      if (event.type !== 'block.cancel') return
      sink.ask({ kind: 'cancel', path: identity.path, step, reason: event.reason })
    }),
    askTimer: sends((context, _event, sink) => askTimer(context, sink)),
    askDecision: sends((context, _event, sink) => askDecision(context, sink)),
    countAttempt: (context, event) =>
      questions.restarted(nextAttempt(context, { options: optionsAfter(context.options, event) })),
    planRetry: (context, event) => plannedRetry(context, questions.decision(context, event)),
    repair: (context, event) => {
      const decision = questions.decision(context, event)
      if (decision.kind !== 'repair') return context
      const { request, cursor } = decision
      return questions.restarted(nextAttempt(context, { request, cursor }))
    },
    holdDecision: (context, event) => heldForDecision(context, questions.decision(context, event)),
    patchRequest: (context, event) =>
      event.type === 'decision.made' ? questions.restarted(patched(context, event)) : context,
    settleFailure: settles((context, event) => {
      const decision = questions.decision(context, event)
      return decision.kind === 'fail' ? decision.response : heldFailure(context)
    }),
    settleCancelled: settles((context, event) =>
      event.type === 'block.cancel' ? cancelledResponse(event) : heldFailure(context)
    ),
    // A skipped block succeeded with nothing, by a person's decision.
    settleSkipped: settles(() => ({ success: true, data: null, metadata: { skipped: true } })),
    settleHeld: settles((context) => heldFailure(context)),
    settleTimedOut: settles(({ options, failure }) => timedOut(options, failure))
  } satisfies Readonly<Record<string, BlockAction<Context>>>
  return actions
}

/**
 * Executing a BUSY or WAITING block answers for the new execution and leaves the old alone (B2).
 */
function refuseBusy({ identity }: ChartRun, { step, at }: ExecuteEvent, sink: Sink): void {
  const { path, node } = identity
  const response = failedResponse(reasons.blockBusy, { path })
  sink.report({ type: 'block.settled', node, step, response, at })
}

function plannedRetry<Context extends ChartRun>(
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

function heldForDecision<Context extends ChartRun>(
  context: Context,
  decision: RetryDecision
): Context {
  if (decision.kind !== 'ask') return context
  const { response } = decision
  const due = lastDueOf(context.options)
  const wait: Wait = {
    reason: 'decision',
    request: {
      attempt: context.attempt,
      reason: response.reason ?? null,
      details: response.details ?? null
    },
    actions: ['retry', 'patch', 'skip', 'abort'],
    ...(due === undefined ? {} : { due })
  }
  return { ...context, cursor: decision.cursor, failure: response, wait }
}

function patched<Context extends ChartRun>(context: Context, event: DecisionMadeEvent): Context {
  const { request } = context
  const options = optionsAfter(context.options, event)
  if (request === null || event.patch === undefined) return nextAttempt(context, { options })
  const payload = mergePatch(request.payload, event.patch)
  return nextAttempt(context, { options, request: { ...request, payload } })
}
