import type { CompositeEvent, Response } from '../protocol.js'
import { decideRetry, type Repair, type RetryDecision } from '../retry-policy.js'
import {
  askDecision,
  askTimer,
  type ChartRun,
  classOf,
  heldFailure,
  type Sink
} from './chart-run.js'

/** What composites and plans have in common: an overlay of their own, and decisions on failures. */

export interface ParentRun extends ChartRun {
  /** What an overlay is to commit. */
  readonly held: Response | null
  /** When the overlay's commit or abort was asked for: asked again alike after a restart. */
  readonly scopeAt: number
}

/** Commits or drops the overlay of an atomic parent; asked again after a restore. */
export function askOverlay(
  context: ParentRun,
  kind: 'scope.commit' | 'scope.abort',
  sink: Sink
): void {
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

/**
 * What follows a parent's failure (B8), computed once for an event: a guard asks, and then an
 * action. By context too, as the same event may be shown to several.
 */
export class ParentDecisions<Context extends ParentRun> {
  readonly #known = new WeakMap<
    object,
    { readonly context: Context; readonly decision: RetryDecision }
  >()
  readonly #repair: (name: string) => Repair | undefined

  constructor(repair: (name: string) => Repair | undefined) {
    this.#repair = repair
  }

  of(context: Context, event: CompositeEvent): RetryDecision {
    const known = this.#known.get(event)
    if (known !== undefined && known.context === context) return known.decision
    const decision = this.#decide(context, event)
    this.#known.set(event, { context, decision })
    return decision
  }

  #decide(context: Context, event: CompositeEvent): RetryDecision {
    const response = heldFailure(context)
    const { request, options, attempt, cursor } = context
    if (request === null) return { kind: 'fail', response }
    return decideRetry({
      request,
      response,
      options,
      attempt,
      cursor,
      sideEffects: classOf(context),
      at: event.at,
      sent: event.type === 'scope.settled' ? event.sent : undefined,
      canFallBack: false,
      repair: this.#repair
    })
  }
}
