import { type AnyActorLogic, type AnyActorRef, createActor, setup } from 'xstate'
import type { ChartNode } from '../../../../machines/composite.js'
import { limits, present } from '../../../core/index.js'
import type { BlockIdentity } from '../../chart/chart-run.js'
import {
  type ChartAction,
  type ChartGuard,
  type ChartParams,
  chartAction,
  type SentToChild,
  tell
} from '../../chart/glue.js'
import { childIdentity } from '../../chart/parent-table.js'
import type { CompositeEvent } from '../../protocol.js'
import { planActions } from './actions.js'
import { planGuards } from './guards.js'
import type { PlanLibrary } from './library.js'
import { idlePlan, type PlanContext } from './node-state.js'
import { PlanQuestions } from './questions.js'

/**
 * A plan's chart as an XState machine: what is drawn and inspected, and what the pure fold
 * interprets. Runs use the table made of the same chart.
 */

export interface PlanParts {
  readonly config: ChartNode
  readonly library: PlanLibrary
  /** Logic of the children by `src` name. */
  readonly children: Readonly<Record<string, AnyActorLogic>>
}

type Action = ChartAction<PlanContext, CompositeEvent, never>

export type PlanMachine = ReturnType<typeof planMachine>

export function planMachine(parts: PlanParts) {
  const questions = new PlanQuestions(parts.library)
  const guards: Record<string, ChartGuard<PlanContext, CompositeEvent>> = {}
  for (const [name, guard] of Object.entries(planGuards(questions))) {
    guards[name] = ({ context, event }) => guard(context, event)
  }
  const actions: Record<string, Action> = { tell, send: sender(parts) }
  for (const [name, action] of Object.entries(planActions(questions))) {
    actions[name] = chartAction((context, event, _params, sink) => action(context, event, {}, sink))
  }
  const base = setup({
    types: {
      context: {} as PlanContext,
      events: {} as CompositeEvent,
      input: {} as BlockIdentity
    },
    actions,
    guards
  })
  // The template is JSON made by us; XState's config type asks for literals.
  const config = parts.config as Parameters<typeof base.createMachine>[0]
  return base.createMachine({
    ...config,
    context: ({ input }) => idlePlan(input),
    options: { maxIterations: limits.CHART_ITERATIONS_MAX }
  })
}

/**
 * The action `send` for a machine that is run as an actor, as inspectors do. XState copies all of a
 * parent's children for each that it spawns, so a plan keeps its own.
 */
function sender({ library, children }: PlanParts) {
  const known = new WeakMap<AnyActorRef, Map<string, AnyActorRef>>()
  return (
    { self, context }: { readonly self: AnyActorRef; readonly context: PlanContext },
    params: ChartParams
  ): void => {
    // Only `chartAction` enqueues it.
    const { node, message } = params as unknown as SentToChild
    const own = known.get(self) ?? new Map<string, AnyActorRef>()
    known.set(self, own)
    const nodeIndex = present(library.nodes[library.places.get(node) ?? -1], `node ${node}`)
    const logic = present(children[nodeIndex.src], `logic ${nodeIndex.src}`)
    const input = childIdentity(context.identity, nodeIndex)
    const child = own.get(node) ?? createActor(logic, { id: node, parent: self, input }).start()
    own.set(node, child)
    child.send(message)
  }
}
