import { present } from '../../core/index.js'
import type { CompositeEvent } from '../protocol.js'
import { compositeActions } from './composite-actions.js'
import { afterCounting, executeEvent } from './composite-child.js'
import { compositeGuards } from './composite-guards.js'
import type { CompositeParts } from './composite-machine.js'
import {
  type CompositeContext,
  CompositeQuestions,
  idleComposite,
  type NodeParams
} from './composite-questions.js'
import {
  type ParentLogic,
  type ParentSink,
  type ParentSnapshot,
  parentLogic
} from './parent-table.js'

/**
 * A composite's compiled chart as a table: what runs, and what the pure fold replays. Tests hold it
 * to the same chart in XState's interpreter, state by state.
 */
export type CompositeSnapshot = ParentSnapshot<CompositeContext>
export type CompositeLogic = ParentLogic<CompositeContext>
export type CompositeSink = ParentSink

export function compositeLogic(parts: CompositeParts): CompositeLogic {
  const { config, plan, children } = parts
  const questions = new CompositeQuestions(plan)
  return parentLogic<CompositeContext, NodeParams>({
    config,
    children,
    functions: {
      guards: compositeGuards(questions),
      actions: { ...compositeActions(questions), ...childActions(questions) }
    },
    child: (name) => plan.nodes.get(name),
    idle: (identity) => idleComposite(identity)
  })
}

function childActions(questions: CompositeQuestions): Readonly<Record<string, TableAction>> {
  return {
    spawnChild: (context, _event, { node }) =>
      node === undefined ? context : afterCounting(context, node),
    executeChild: (context, event, params, sink) => {
      const node = present(questions.node(params), 'node to execute')
      sink.send(node.name, executeEvent(questions, context, node, event.at))
      return context
    },
    cancelChild: (context, event, _params, sink) => {
      if (context.current !== null) sink.send(context.current, event)
      return context
    }
  }
}

type TableAction = (
  context: CompositeContext,
  event: CompositeEvent,
  params: NodeParams,
  sink: CompositeSink
) => CompositeContext
