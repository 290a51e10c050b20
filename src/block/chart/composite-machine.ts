import { type AnyActorLogic, type AnyActorRef, assign, enqueueActions, sendTo, setup } from 'xstate'
import type { ChartNode } from '../../../machines/composite.js'
import { limits, present } from '../../core/index.js'
import type { CompositeEvent, ExecuteEvent } from '../protocol.js'
import type { BlockIdentity } from './chart-run.js'
import { type CompositeAction, compositeActions } from './composite-actions.js'
import { countedStep, executeEvent } from './composite-child.js'
import type { CompositeGraph } from './composite-graph.js'
import { compositeGuards } from './composite-guards.js'
import {
  type CompositeContext,
  CompositeQuestions,
  idleComposite,
  type NodeParams
} from './composite-questions.js'
import { type ChartAction, type ChartGuard, type ChartParams, chartAction, tell } from './glue.js'

/**
 * A composite's compiled chart as an XState machine: what is drawn and inspected, and what the pure
 * fold interprets. Runs use the table made of the same chart.
 */

export interface CompositeParts {
  readonly config: ChartNode
  readonly plan: CompositeGraph
  /** Logic of the children by `src` name. */
  readonly children: Readonly<Record<string, AnyActorLogic>>
}

interface Args {
  readonly context: CompositeContext
  readonly event: CompositeEvent
}

interface Children {
  src: string
  logic: AnyActorLogic
  id: string | undefined
}

type Action = ChartAction<CompositeContext, CompositeEvent, Children>
type Guard = ChartGuard<CompositeContext, CompositeEvent>

export type CompositeMachine = ReturnType<typeof compositeMachine>

export function compositeMachine(parts: CompositeParts) {
  const questions = new CompositeQuestions(parts.plan)
  const guards: Record<string, Guard> = {}
  for (const [name, guard] of Object.entries(compositeGuards(questions))) {
    guards[name] = ({ context, event }, params) => guard(context, event, nodeParams(params))
  }
  const actions: Record<string, Action> = { tell, ...childActions(questions) }
  for (const [name, action] of Object.entries(compositeActions(questions))) {
    actions[name] = adapted(action)
  }
  const base = setup({
    types: {
      context: {} as CompositeContext,
      events: {} as CompositeEvent,
      input: {} as BlockIdentity
    },
    actors: parts.children,
    actions,
    guards
  })
  // The template is JSON made by us; XState's config type asks for literals.
  const config = parts.config as Parameters<typeof base.createMachine>[0]
  return base.createMachine({
    ...config,
    context: ({ input }) => idleComposite(input),
    options: { maxIterations: limits.CHART_ITERATIONS_MAX }
  })
}

function adapted(action: CompositeAction): Action {
  return chartAction((context, event, params, sink) =>
    action(context, event, nodeParams(params), sink)
  )
}

const noParams: NodeParams = {}

function nodeParams(params: ChartParams): NodeParams {
  return (params as NodeParams | undefined) ?? noParams
}

/**
 * Actions that need the actor's children. One fixed child per node, made when first needed (D8).
 */
function childActions(questions: CompositeQuestions): Record<string, Action> {
  const spawnChild = assign<
    CompositeContext,
    CompositeEvent,
    ChartParams,
    CompositeEvent,
    Children
  >(({ context, self, spawn }, params) => {
    const node = questions.node(nodeParams(params))
    if (node === undefined) return {}
    if (!Object.hasOwn(self.getSnapshot().children, node.name)) {
      const identity: BlockIdentity = {
        path: `${context.identity.path}/${node.name}`,
        node: node.name,
        block: node.block,
        sideEffects: node.sideEffects
      }
      spawn(node.src, { id: node.name, input: identity })
    }
    return countedStep(context, node.name)
  })
  const executeChild = sendTo<
    CompositeContext,
    CompositeEvent,
    ChartParams,
    AnyActorRef,
    CompositeEvent,
    never,
    never
  >(
    (_, params) => nodeParams(params).node ?? '',
    ({ context, event }: Args, params: ChartParams): ExecuteEvent => {
      const node = present(questions.node(nodeParams(params)), 'node to execute')
      return executeEvent(questions, context, node, event.at)
    }
  )
  const cancelChild: Action = enqueueActions(({ context, event, enqueue }) => {
    if (event.type === 'block.cancel' && context.current !== null) {
      enqueue.sendTo(context.current, event)
    }
  })
  return { spawnChild, executeChild, cancelChild }
}
