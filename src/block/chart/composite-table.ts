import {
  type ActorLogic,
  type ActorScope,
  type AnyActorLogic,
  type AnyActorRef,
  createActor
} from 'xstate'
import { present } from '../../core/index.js'
import { type Ask, type BlockReport, type CompositeEvent, pumpOf } from '../protocol.js'
import { askScope, compositeActions } from './composite-actions.js'
import { countedStep, executeEvent } from './composite-child.js'
import { compositeGuards } from './composite-guards.js'
import type { CompositeParts } from './composite-machine.js'
import {
  type CompositeContext,
  CompositeQuestions,
  idleComposite,
  type NodeParams
} from './composite-questions.js'
import { askDecision, askTimer, type BlockIdentity, rootAsk, type Sink } from './execution.js'
import { keyOfValue, stepTable, type Table, type TableValue, tableOf } from './table.js'

/**
 * A composite's compiled chart as a table: what runs. The same chart goes through XState's
 * interpreter in the pure fold, so every verified run compares the two.
 *
 * Owns: its children, one per node, made when first needed and kept until it stops (D8).
 * - D6: contexts are kept as they are; XState would look for actor references inside payloads.
 */
export interface CompositeSnapshot {
  readonly status: 'active'
  readonly output: undefined
  readonly error: undefined
  readonly value: TableValue
  readonly context: CompositeContext
  /** Grows in place: a copy for each child would be quadratic in the number of nodes. */
  readonly children: Children
}

type Children = Record<string, AnyActorRef>

export type CompositeLogic = ActorLogic<CompositeSnapshot, CompositeEvent, BlockIdentity>

/** Composites also send to their children. */
export interface CompositeSink extends Sink {
  send(node: string, event: CompositeEvent): void
}

type CompositeTable = Table<CompositeContext, CompositeEvent, CompositeSink>

export function compositeLogic(parts: CompositeParts): CompositeLogic {
  const { config, plan } = parts
  const questions = new CompositeQuestions(plan)
  const table: CompositeTable = tableOf<
    CompositeContext,
    CompositeEvent,
    NodeParams,
    CompositeSink
  >(config, {
    guards: compositeGuards(questions),
    actions: { ...compositeActions(questions), ...childActions(questions) }
  })
  const stateOf = (value: TableValue) => {
    const key = keyOfValue(value)
    return present(table.get(key), `state ${key}`)
  }
  return {
    config,
    getInitialSnapshot: (_scope, identity) =>
      snapshotOf('READY', idleComposite(identity), Object.create(null)),
    transition: (snapshot, event, scope) => {
      if (isSystemEvent(event)) return handleSystemEvent(snapshot, event, scope)
      const { value, context, children } = snapshot
      const sink = new ScopeSink(parts, children, context.identity, scope)
      const from = { state: stateOf(value), context }
      const step = stepTable(table, from, event, sink)
      return step === from ? snapshot : snapshotOf(step.state.value, step.context, children)
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
      const { value, context, children: saved } = persisted as unknown as Persisted
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
      askAgain(keyOfValue(value), context, new ScopeSink(parts, children, context.identity, scope))
    }
  }
}

interface PersistedChild {
  readonly src: string
  readonly snapshot: unknown
}

interface Persisted {
  readonly value: TableValue
  readonly context: CompositeContext
  readonly children: Readonly<Record<string, PersistedChild>>
}

// An idle leaf knows nothing: it is made again when it is needed, and checkpoints stay small
// however many nodes were visited. An idle composite counts its child executions.
function isIdleLeaf(child: AnyActorRef): boolean {
  return child.src === 'leaf' && child.getSnapshot().value === 'READY'
}

function snapshotOf(
  value: TableValue,
  context: CompositeContext,
  children: Children
): CompositeSnapshot {
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

function handleSystemEvent(
  snapshot: CompositeSnapshot,
  event: SystemEvent,
  scope: Scope
): CompositeSnapshot {
  if (event.type === 'xstate.stop') {
    for (const child of Object.values(snapshot.children)) scope.stopChild(child)
  }
  // A block answers with data; a child that threw is a defect, and stops the run.
  if (event.type.startsWith('xstate.error.')) throw event.error
  return snapshot
}

function childActions(questions: CompositeQuestions): Readonly<Record<string, TableAction>> {
  return {
    spawnChild: (context, _event, { node }) =>
      node === undefined ? context : { ...context, ...countedStep(context, node) },
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

/** What a restored composite itself waits for; its children ask for themselves. */
function askAgain(key: string, context: CompositeContext, sink: Sink): void {
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

type Scope = ActorScope<CompositeSnapshot, CompositeEvent>

class ScopeSink implements CompositeSink {
  readonly #parts: CompositeParts
  readonly #children: Children
  readonly #identity: BlockIdentity
  readonly #scope: Scope

  constructor(parts: CompositeParts, children: Children, identity: BlockIdentity, scope: Scope) {
    this.#parts = parts
    this.#children = children
    this.#identity = identity
    this.#scope = scope
  }

  ask(ask: Ask): void {
    pumpOf(this.#scope.system)?.ask(ask, this.#scope.self)
  }

  report(report: BlockReport): void {
    const parent = this.#scope.self._parent
    if (parent === undefined) this.ask(rootAsk(this.#identity.path, report))
    else this.#scope.defer(() => parent.send(report))
  }

  send(node: string, event: CompositeEvent): void {
    const child = this.#children[node] ?? this.#spawn(node)
    this.#scope.defer(() => child.send(event))
  }

  #spawn(name: string): AnyActorRef {
    const node = present(this.#parts.plan.nodes.get(name), `node ${name}`)
    const logic = present(this.#parts.children[node.src], `logic ${node.src}`)
    const input: BlockIdentity = {
      path: `${this.#identity.path}/${name}`,
      node: name,
      block: node.block,
      sideEffects: node.sideEffects
    }
    const options = { id: name, parent: this.#scope.self, src: node.src, input }
    const child: AnyActorRef = createActor(logic, options)
    this.#children[name] = child
    this.#scope.defer(() => child.start())
    return child
  }
}
