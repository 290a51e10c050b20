import {
  type ActionFunction,
  type AnyActorRef,
  type EventObject,
  enqueueActions,
  type MachineContext,
  type ParameterizedObject,
  type ProvidedActor
} from 'xstate'
import {
  type ActorSystem,
  type BlockReport,
  type CompositeEvent,
  type PumpCommand,
  pumpOf
} from '../protocol.js'
import { type ChartRun, rootCommand } from './chart-run.js'
import type { ParentSink } from './parent-table.js'

/** Joins the pure actions to XState, without changing what they do. */

/** Parameters that a chart's JSON gives to an action or guard; none are written as undefined. */
export type ChartParams = ParameterizedObject['params'] | undefined

interface ChartReference {
  readonly type: string
  readonly params: ChartParams
}

/** An action as XState takes it. */
export type ChartAction<
  Context extends MachineContext,
  Event extends EventObject,
  Actors extends ProvidedActor
> = ActionFunction<
  Context,
  Event,
  Event,
  ChartParams,
  Actors,
  ChartReference,
  ChartReference,
  never,
  EventObject
>

/** A guard as XState takes it. */
export type ChartGuard<Context, Event> = (
  args: { readonly context: Context; readonly event: Event },
  params: ChartParams
) => boolean

/** Parameters of the action `send`: a message to the child of a node. */
export interface SentToChild {
  readonly node: string
  readonly message: CompositeEvent
}

/**
 * Wraps a pure action: its context is assigned, its asks go to the pump, its reports to the parent,
 * and what it sends to children to the action `send`.
 */
export function chartAction<
  Context extends ChartRun,
  Event extends EventObject,
  Actors extends ProvidedActor
>(
  action: (context: Context, event: Event, params: ChartParams, sink: ParentSink) => Context
): ChartAction<Context, Event, Actors> {
  return enqueueActions<
    Context,
    Event,
    ChartParams,
    Event,
    Actors,
    ChartReference,
    ChartReference,
    never,
    EventObject
  >(({ context, event, enqueue, self }, params) => {
    const sent: (PumpCommand | BlockReport | SentToChild)[] = []
    const sink: ParentSink = {
      ask: (ask) => sent.push(ask),
      report: (report) => sent.push(report),
      send: (node, message) => sent.push({ node, message })
    }
    const next = action(context, event, params, sink)
    if (next !== context) enqueue.assign(() => next)
    for (const message of sent) {
      if ('kind' in message) enqueue({ type: 'tell', params: { ask: message } })
      else if ('message' in message) enqueue({ type: 'send', params: { ...message } })
      else if (self._parent !== undefined) enqueue.sendParent(message)
      else {
        const ask = rootCommand(context.identity.path, message)
        enqueue({ type: 'tell', params: { ask } })
      }
    }
  })
}

/** The action `tell` of both charts: gives an ask to the pump of the actor's system. */
export function tell(
  { self, system }: { readonly self: AnyActorRef; readonly system: ActorSystem },
  params: ChartParams
): void {
  // Only `chartAction` above enqueues it.
  const { ask } = params as { readonly ask: PumpCommand }
  pumpOf(system)?.ask(ask, self)
}
