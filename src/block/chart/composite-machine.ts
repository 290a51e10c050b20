import {
  type ActorLogic,
  type ActorScope,
  type AnyActorLogic,
  type AnyActorRef,
  assign,
  enqueueActions,
  sendTo,
  setup
} from 'xstate'
import type { ChartNode } from '../../../machines/composite.js'
import { limits } from '../../core/index.js'
import { type CompositeEvent, type ExecuteEvent, pumpOf } from '../protocol.js'
import { askScope, type CompositeAction, compositeActions } from './composite-actions.js'
import { childOptions, childRequest, countedStep } from './composite-child.js'
import { compositeGuards } from './composite-guards.js'
import type { CompositePlan } from './composite-plan.js'
import {
  type CompositeContext,
  CompositeQuestions,
  idleComposite,
  type NodeParams
} from './composite-questions.js'
import { askDecision, askTimer, type BlockIdentity, type Sink } from './execution.js'
import { type ChartAction, type ChartGuard, type ChartParams, chartAction, tell } from './glue.js'

/** A composite's compiled chart as an XState machine, and as the actor logic that runs. */

export interface CompositeParts {
  readonly config: ChartNode
  readonly plan: CompositePlan
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

/** Actions that need the actor's children. One fixed child per node, made when first needed (D8). */
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
      const node = questions.node(nodeParams(params))
      if (node === undefined) throw new Error('executeChild without a node')
      const request = childRequest(questions, context, node)
      const options = childOptions(context, node, request)
      const step = context.childExecutions
      return { type: 'block.execute', request, step, options, at: event.at }
    }
  )
  const cancelChild: Action = enqueueActions(({ context, event, enqueue }) => {
    if (event.type === 'block.cancel' && context.current !== null) {
      enqueue.sendTo(context.current, event)
    }
  })
  return { spawnChild, executeChild, cancelChild }
}

/** State value of a composite, two or three levels deep. */
export type CompositeValue = string | { readonly [state: string]: CompositeValue }

/** Persisted form of a composite's snapshot. */
interface Persisted {
  readonly value: CompositeValue
  readonly context: CompositeContext
}

type MachineSnapshot = ReturnType<CompositeMachine['getInitialSnapshot']>
export type CompositeLogic = ActorLogic<MachineSnapshot, CompositeEvent, BlockIdentity>

/**
 * The machine as it runs. XState looks for actor references in a context when it persists and
 * restores, and would take payloads with certain keys for one, so contexts go around it; and a restored
 * block asks again for what it waited for, since entry actions do not run again.
 */
export function compositeLogic(machine: CompositeMachine): CompositeLogic {
  return {
    config: machine.config,
    getInitialSnapshot: (scope, identity) => machine.getInitialSnapshot(scope, identity),
    transition: (snapshot, event, scope) => machine.transition(snapshot, event, scope),
    getPersistedSnapshot: (snapshot, options) => {
      const bare = { ...snapshot, context: withoutContext }
      const persisted = machine.getPersistedSnapshot(bare, options)
      return Object.assign(persisted, { context: snapshot.context })
    },
    restoreSnapshot: (persisted, scope) => {
      const { context } = persisted as unknown as Persisted
      const bare = Object.assign({ ...persisted }, { context: withoutContext })
      const restored = machine.restoreSnapshot(bare, scope)
      restored.context = context
      return restored
    },
    start: (snapshot, scope) => {
      machine.start(snapshot)
      askCompositeAgain(snapshot.value as CompositeValue, snapshot.context, scopeSink(scope))
    }
  }
}

const withoutContext = {} as CompositeContext

/** What a restored composite itself waits for; its children ask for themselves. */
export function askCompositeAgain(
  value: CompositeValue,
  context: CompositeContext,
  sink: Sink
): void {
  if (typeof value === 'string') return
  switch (value['WAITING']) {
    case 'retry':
      askTimer(context, sink)
      return
    case 'decision':
      askDecision(context, sink)
      return
  }
  switch (value['BUSY']) {
    case 'commit':
      askScope(context, 'scope.commit', sink)
      return
    case 'abort':
      askScope(context, 'scope.abort', sink)
      return
  }
}

function scopeSink(scope: ActorScope<MachineSnapshot, CompositeEvent>): Sink {
  return {
    ask: (ask) => pumpOf(scope.system)?.ask(ask, scope.self),
    // Nothing is reported on a restart.
    report: () => undefined
  }
}
