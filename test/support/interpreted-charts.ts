import {
  type ActionFunction,
  type AnyActorLogic,
  type AnyActorRef,
  assign,
  createActor,
  type EventObject,
  enqueueActions,
  type MachineContext,
  type ParameterizedObject,
  type ProvidedActor,
  sendTo,
  setup
} from 'xstate'
import { blockChart } from '../../machines/block.js'
import {
  type BlockIdentity,
  type ChartRun,
  idleRun,
  rootCommand
} from '../../src/block/chart/chart-run.js'
import {
  type CompositeAction,
  type CompositeParts,
  compositeActions,
  compositeGuards,
  countedStep,
  executeEvent
} from '../../src/block/chart/composite.js'
import {
  type CompositeContext,
  CompositeQuestions,
  idleComposite,
  type NodeParams
} from '../../src/block/chart/composite-questions.js'
import { type LeafLibrary, leafFunctions } from '../../src/block/chart/leaf.js'
import { childIdentity, type ParentSink } from '../../src/block/chart/parent-table.js'
import {
  type PlanParts,
  PlanQuestions,
  planActions,
  planGuards
} from '../../src/block/chart/plan.js'
import { idlePlan, type PlanContext } from '../../src/block/chart/plan-progress.js'
import type {
  BlockReport,
  CompositeEvent,
  ExecuteEvent,
  LeafEvent,
  PumpCommand
} from '../../src/block/chart/protocol.js'
import { type ActorSystem, pumpOf } from '../../src/block/chart/pump-port.js'
import { logicsOf } from '../../src/block/document/compile-session.js'
import type { CompiledComposite, CompiledPlanGraph } from '../../src/block/document/compiled.js'
import { limits, present } from '../../src/core/index.js'

/**
 * Charts in XState's own interpreter, made of the config and the functions that the tables are made
 * of: what the tables are compared with.
 */

/** Parameters that a chart's JSON gives to an action or guard; none are written as undefined. */
type ChartParams = ParameterizedObject['params'] | undefined

interface ChartReference {
  readonly type: string
  readonly params: ChartParams
}

/** An action as XState takes it. */
type ChartAction<
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
type ChartGuard<Context, Event> = (
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
function chartAction<
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
function tell(
  { self, system }: { readonly self: AnyActorRef; readonly system: ActorSystem },
  params: ChartParams
): void {
  // Only `chartAction` above enqueues it.
  const { ask } = params as { readonly ask: PumpCommand }
  pumpOf(system)?.ask(ask, self)
}

export function leafMachine(library: LeafLibrary) {
  const functions = leafFunctions(library)
  const actions: Record<string, ChartAction<ChartRun, LeafEvent, never>> = { tell }
  for (const [name, action] of Object.entries(functions.actions)) {
    actions[name] = chartAction((context, event, _params, sink) => action(context, event, {}, sink))
  }
  const guards: Record<string, ChartGuard<ChartRun, LeafEvent>> = {}
  for (const [name, guard] of Object.entries(functions.guards)) {
    guards[name] = ({ context, event }) => guard(context, event)
  }
  return setup({
    types: {
      context: {} as ChartRun,
      events: {} as LeafEvent,
      input: {} as BlockIdentity
    },
    actions,
    guards
  }).createMachine({
    ...blockChart,
    context: ({ input }) => idleRun(input),
    options: { maxIterations: limits.CHART_ITERATIONS_MAX }
  })
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

export type CompositeMachine = ReturnType<typeof compositeMachine>

/** A composite that was compiled. */
export function compositeMachine({ config, plan, nodes }: CompiledComposite) {
  return machineOfComposite({ config, plan, children: logicsOf(plan, nodes) })
}

/** A plan that was compiled. */
export function planMachine({ config, plan: library, nodes }: CompiledPlanGraph) {
  return machineOfPlan({ config, library, children: logicsOf(library, nodes) })
}

function machineOfComposite(parts: CompositeParts) {
  const questions = new CompositeQuestions(parts.plan)
  const guards: Record<string, ChartGuard<CompositeContext, CompositeEvent>> = {}
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

type PlanChartAction = ChartAction<PlanContext, CompositeEvent, never>

function machineOfPlan(parts: PlanParts) {
  const questions = new PlanQuestions(parts.library)
  const guards: Record<string, ChartGuard<PlanContext, CompositeEvent>> = {}
  for (const [name, guard] of Object.entries(planGuards(questions))) {
    guards[name] = ({ context, event }) => guard(context, event)
  }
  const actions: Record<string, PlanChartAction> = { tell, send: sender(parts) }
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
 * The action `send` for a machine that is run as an actor. XState copies all of a parent's children
 * for each that it spawns, so a plan keeps its own.
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
