import type { CompositeEvent, Response } from '../protocol.js'
import { decideRecovery, type RecoveryDecision, type Repair } from '../retry-policy.js'
import {
  askDecision,
  askTimer,
  classOf,
  type Execution,
  heldFailure,
  type Sink
} from './execution.js'

/** What composites and plans have in common: a scope of their own, and decisions on failures. */

export interface ParentExecution extends Execution {
  /** What a scope is to commit. */
  readonly held: Response | null
  /** When the scope's commit or abort was asked for: asked again alike after a restart. */
  readonly scopeAt: number
}

/** Commits or drops the overlay of an atomic parent; asked again after a restore. */
export function askScope(
  context: ParentExecution,
  kind: 'scope.commit' | 'scope.abort',
  sink: Sink
): void {
  const { identity, step, attempt, scopeAt } = context
  const response = kind === 'scope.commit' ? context.held : heldFailure(context)
  if (response === null) return
  sink.ask({ kind, path: identity.path, step, attempt, response, at: scopeAt })
}

/** What a restored parent itself waits for; its children ask for themselves. */
export function askParentAgain(key: string, context: ParentExecution, sink: Sink): void {
  switch (key) {
    case 'WAITING.retry':
      askTimer(context, sink)
      return
    case 'WAITING.decision':
      askDecision(context, sink)
      return
    case 'BUSY.commit':
      askScope(context, 'scope.commit', sink)
      return
    case 'BUSY.abort':
      askScope(context, 'scope.abort', sink)
      return
  }
}

/**
 * What follows a parent's failure (B8), computed once for an event: a guard asks, and then an
 * action. By context too, as the same event may be shown to several.
 */
export class ParentDecisions<Context extends ParentExecution> {
  readonly #known = new WeakMap<
    object,
    { readonly context: Context; readonly decision: RecoveryDecision }
  >()
  readonly #repair: (name: string) => Repair | undefined

  constructor(repair: (name: string) => Repair | undefined) {
    this.#repair = repair
  }

  of(context: Context, event: CompositeEvent): RecoveryDecision {
    const known = this.#known.get(event)
    if (known !== undefined && known.context === context) return known.decision
    const decision = this.#decide(context, event)
    this.#known.set(event, { context, decision })
    return decision
  }

  #decide(context: Context, event: CompositeEvent): RecoveryDecision {
    const response = heldFailure(context)
    const { request, options, attempt, cursor } = context
    if (request === null) return { kind: 'fail', response }
    return decideRecovery({
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
