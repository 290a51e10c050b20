import {
  type ActorLogic,
  type ActorScope,
  type AnyActorLogic,
  type AnyActorRef,
  createActor
} from 'xstate'
import type { ChartNode } from '../../../machines/composite.js'
import type { SideEffectClass } from '../../code/index.js'
import { type Pieces, present } from '../../core/index.js'
import type { BlockIdentity, Sink } from './chart-run.js'
import { askParentAgain, type ParentRun } from './parent.js'
import type { CompositeEvent } from './protocol.js'
import { pumpOf } from './pump-port.js'
import {
  type ActorPlace,
  ActorSink,
  keyOfValue,
  makingTable,
  stepTable,
  type TableFunctions,
  type TableStep,
  type TableValue
} from './table.js'

/**
 * The chart of a block with children as a table: what runs, for composites and for plans.
 *
 * Owns: its children, one per node, made when first needed and kept until it stops (D8).
 * - D6: contexts are kept as they are; XState would look for actor references inside payloads.
 */
export interface ParentSnapshot<Context extends ParentRun> {
  readonly status: 'active'
  readonly output: undefined
  readonly error: undefined
  readonly value: TableValue
  readonly context: Context
  /** Grows in place: a copy for each child would be quadratic in the number of nodes. */
  readonly children: Children
}

type Children = Record<string, AnyActorRef>

export interface ParentLogic<Context extends ParentRun>
  extends ActorLogic<ParentSnapshot<Context>, CompositeEvent, BlockIdentity> {
  /** The table alone, for the pure fold: no actor, no scope. */
  readonly steps: ParentSteps<Context>
}

export interface ParentSteps<Context extends ParentRun> {
  /** What the child of a node is made from. */
  child(name: string): ChildTemplate | undefined
  initial(identity: BlockIdentity): ParentStep<Context>
  /** One macrostep; the same step when the event means nothing in this state. */
  step(from: ParentStep<Context>, event: CompositeEvent, sink: ParentSink): ParentStep<Context>
}

export type ParentStep<Context extends ParentRun> = TableStep<Context, CompositeEvent, ParentSink>

/** Blocks with children also send to them. */
export interface ParentSink extends Sink {
  /** `template`: what the child is made from, where its parent's compiled form does not say. */
  send(node: string, event: CompositeEvent, template?: ChildTemplate): void
}

/** What a child is made from. */
export interface ChildTemplate {
  readonly name: string
  readonly block: string
  readonly sideEffects: SideEffectClass
  /** Name under which the child's logic is registered: restored children are looked up by it. */
  readonly src: string
}

/** One kind of parent: its chart, its functions, and where its children come from. */
export interface ParentParts<Context extends ParentRun, Params extends object> {
  readonly config: ChartNode
  readonly functions: TableFunctions<Context, CompositeEvent, Params, ParentSink>
  /** Logic of the children by `src` name. */
  readonly children: Readonly<Record<string, AnyActorLogic>>
  child(name: string): ChildTemplate | undefined
  idle(identity: BlockIdentity): Context
}

type Parts = Pick<ParentParts<ParentRun, object>, 'child' | 'children'>

/** The logic of a parent; its table is made in pieces. */
export function* makingParentLogic<Context extends ParentRun, Params extends object>(
  parts: ParentParts<Context, Params>
): Pieces<ParentLogic<Context>> {
  const { config, functions } = parts
  const table = yield* makingTable<Context, CompositeEvent, Params, ParentSink>(config, functions)
  const stateOf = (value: TableValue) => {
    const key = keyOfValue(value)
    return present(table.get(key), `state ${key}`)
  }
  const ready = stateOf('READY')
  return {
    config,
    steps: {
      child: (name) => parts.child(name),
      initial: (identity) => ({ state: ready, context: parts.idle(identity) }),
      step: (from, event, sink) => stepTable(table, from, event, sink)
    },
    getInitialSnapshot: (_scope, identity) =>
      snapshotOf('READY', parts.idle(identity), Object.create(null)),
    transition: (snapshot, event, scope) => {
      if (isSystemEvent(event)) return handleSystemEvent(snapshot, event, scope)
      const { value, context, children } = snapshot
      const sink = new ParentActorSink(parts, children, context.identity, scope)
      const from = { state: stateOf(value), context }
      const step = stepTable(table, from, event, sink)
      const stepped =
        step === from ? snapshot : snapshotOf(step.state.value, step.context, children)
      pumpOf(scope.system)?.moved?.(context.identity.path, event, stepped)
      return stepped
    },
    getPersistedSnapshot: ({ children, ...snapshot }) => {
      const persisted: Record<string, PersistedChild> = {}
      for (const [id, child] of Object.entries(children)) {
        if (isIdleLeaf(child)) continue
        persisted[id] = { src: String(child.src), snapshot: child.getPersistedSnapshot() }
      }
      return Object.assign({ ...snapshot }, { children: persisted })
    },
    restoreSnapshot: (persisted, scope) => {
      // The checkpoint's envelope was checked before (formats.md §7).
      const { value, context, children: saved } = persisted as unknown as Persisted<Context>
      const children: Children = Object.create(null)
      for (const [id, { src, snapshot }] of Object.entries(saved)) {
        const logic: AnyActorLogic = present(parts.children[src], `logic ${src}`)
        const options = { id, parent: scope.self, src, snapshot: snapshot as never }
        children[id] = createActor(logic, options)
      }
      return snapshotOf(stateOf(value).value, context, children)
    },
    start: ({ value, context, children }, scope) => {
      for (const child of Object.values(children)) child.start()
      const sink = new ParentActorSink(parts, children, context.identity, scope)
      askParentAgain(keyOfValue(value), context, sink)
    }
  }
}

interface PersistedChild {
  readonly src: string
  readonly snapshot: unknown
}

interface Persisted<Context> {
  readonly value: TableValue
  readonly context: Context
  readonly children: Readonly<Record<string, PersistedChild>>
}

// An idle leaf knows nothing: it is made again when it is needed, and checkpoints stay small
// however many nodes were visited. An idle composite counts its child executions.
function isIdleLeaf(child: AnyActorRef): boolean {
  return child.src === 'leaf' && child.getSnapshot().value === 'READY'
}

function snapshotOf<Context extends ParentRun>(
  value: TableValue,
  context: Context,
  children: Children
): ParentSnapshot<Context> {
  return { status: 'active', output: undefined, error: undefined, value, context, children }
}

/** Events of XState itself: it stops an actor, or tells that a child failed. */
interface SystemEvent {
  readonly type: string
  readonly error?: unknown
}

function isSystemEvent(event: SystemEvent): boolean {
  return event.type.startsWith('xstate.')
}

function handleSystemEvent<Context extends ParentRun>(
  snapshot: ParentSnapshot<Context>,
  event: SystemEvent,
  scope: Scope<Context>
): ParentSnapshot<Context> {
  if (event.type === 'xstate.stop') {
    for (const child of Object.values(snapshot.children)) scope.stopChild(child)
  }
  // A block answers with data; a child that threw is a defect, and stops the run.
  if (event.type.startsWith('xstate.error.')) throw event.error
  return snapshot
}

type Scope<Context extends ParentRun> = ActorScope<ParentSnapshot<Context>, CompositeEvent>

class ParentActorSink extends ActorSink implements ParentSink {
  readonly #parts: Parts
  readonly #children: Children
  readonly #identity: BlockIdentity

  constructor(parts: Parts, children: Children, identity: BlockIdentity, scope: ActorPlace) {
    super(scope, identity.path)
    this.#parts = parts
    this.#children = children
    this.#identity = identity
  }

  send(node: string, event: CompositeEvent, template?: ChildTemplate): void {
    const child = this.#children[node] ?? this.#spawn(node, template)
    this.scope.defer(() => child.send(event))
  }

  #spawn(name: string, template: ChildTemplate | undefined): AnyActorRef {
    const place = present(template ?? this.#parts.child(name), `node ${name}`)
    const logic = present(this.#parts.children[place.src], `logic ${place.src}`)
    const input = childIdentity(this.#identity, place)
    const options = { id: name, parent: this.scope.self, src: place.src, input }
    const child: AnyActorRef = createActor(logic, options)
    this.#children[name] = child
    this.scope.defer(() => child.start())
    return child
  }
}

/** Who a child is, by its parent and its place there. */
export function childIdentity(
  parent: BlockIdentity,
  { name, block, sideEffects }: Omit<ChildTemplate, 'src'>
): BlockIdentity {
  return { path: `${parent.path}/${name}`, node: name, block, sideEffects }
}
