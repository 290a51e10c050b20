import { type ActorScope, type AnyActorLogic, type AnyActorRef, createActor } from 'xstate'
import { present, TallyError } from '../../core/index.js'
import type { CompiledDocument, CompiledNode } from '../graph/compiled.js'
import {
  type Ask,
  type BlockCommand,
  type BlockReport,
  type CompositeEvent,
  type Delivery,
  type LeafEvent,
  ROOT_PATH
} from '../protocol.js'
import type { CompositeMachine } from './composite-machine.js'
import { type BlockIdentity, rootAsk } from './execution.js'
import type { SentToChild } from './glue.js'
import type { LeafLibrary } from './leaf-actions.js'
import {
  initialLeaf,
  type LeafSnapshot,
  type LeafTable,
  leafTable,
  stepLeaf
} from './leaf-table.js'
import { childIdentity } from './parent-table.js'

/**
 * The pure fold: what the charts of a run ask for when the recorded deliveries are given to them
 * again (architecture.md §4). No actor is started and nothing leaves; verification compares the
 * asks with what the journal says was attempted.
 *
 * Owns: one snapshot per block of the run. Does not own: the journal, or what an attempt gave.
 *
 * - D1: composites and plans go through `machine.transition` with an inert scope, leaves through
 *   the table.
 * - D4: messages between blocks are delivered as XState does: each block has a queue, and what a
 *   transition sends is delivered after it, in order, depth first. So the asks come in live order.
 */
export class RunFold {
  readonly #blocks = new Map<string, FoldedBlock>()
  readonly #asks: Ask[] = []

  constructor(root: CompiledNode, { library }: { readonly library: LeafLibrary }) {
    const identity: BlockIdentity = {
      path: ROOT_PATH,
      node: ROOT_PATH,
      block: root.name,
      sideEffects: root.sideEffects
    }
    const block = new FoldedBlock(this.#blocks, this.#asks, undefined, ROOT_PATH)
    block.stepper =
      root.kind === 'leaf'
        ? new LeafStepper(block, leafTable(library), identity)
        : new ParentStepper(block, root, actorOf(root, identity), identity)
    this.#blocks.set(ROOT_PATH, block)
  }

  /** Gives one delivery to the block at `path`; returns the asks that it led to, in order. */
  deliver(delivery: FoldDelivery): readonly Ask[] {
    const block = this.#blocks.get(delivery.path)
    if (block === undefined) {
      throw new TallyError('block.unknown_path', { path: delivery.path })
    }
    block.send(delivery.event)
    return this.#asks.splice(0)
  }

  /** State value and context of the block at `path`, as a checkpoint has them. */
  stateOf(path: string): { readonly value: unknown; readonly context: unknown } | undefined {
    return this.#blocks.get(path)?.stepper?.state()
  }
}

export interface FoldDelivery {
  readonly path: string
  readonly event: BlockCommand | Delivery
}

/**
 * All asks of a run, in order. Throws `block.unknown_path` for a delivery to a block that never
 * ran.
 */
export function foldRun(
  root: CompiledNode,
  deliveries: Iterable<FoldDelivery>,
  options: { readonly library: LeafLibrary }
): readonly Ask[] {
  const fold = new RunFold(root, options)
  return [...deliveries].flatMap((delivery) => fold.deliver(delivery))
}

type BlockEvent = BlockCommand | Delivery | BlockReport

interface Stepper {
  /** One transition; asks and messages are told to the block. */
  step(event: BlockEvent): void
  state(): { readonly value: unknown; readonly context: unknown }
}

/** A block of the run with its queue. */
class FoldedBlock {
  stepper: Stepper | undefined
  readonly path: string
  readonly blocks: Map<string, FoldedBlock>
  readonly asks: Ask[]
  readonly #parent: FoldedBlock | undefined
  readonly #queue: BlockEvent[] = []
  readonly #sent: (() => void)[] = []
  #isBusy = false

  constructor(
    blocks: Map<string, FoldedBlock>,
    asks: Ask[],
    parent: FoldedBlock | undefined,
    path: string
  ) {
    this.blocks = blocks
    this.asks = asks
    this.#parent = parent
    this.path = path
  }

  send(event: BlockEvent): void {
    this.#queue.push(event)
    if (this.#isBusy) return
    this.#isBusy = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.stepper?.step(next)
      for (const deliver of this.#sent.splice(0)) deliver()
    }
    this.#isBusy = false
  }

  ask(ask: Ask): void {
    this.asks.push(ask)
  }

  report(report: BlockReport): void {
    const parent = this.#parent
    if (parent === undefined) this.ask(rootAsk(this.path, report))
    else this.#sent.push(() => parent.send(report))
  }

  /** Sends to the block of a child, made when first needed. */
  sendTo(node: string, event: BlockEvent, make: (child: FoldedBlock) => Stepper): void {
    this.#sent.push(() => {
      const path = `${this.path}/${node}`
      let child = this.blocks.get(path)
      if (child === undefined) {
        child = new FoldedBlock(this.blocks, this.asks, this, path)
        child.stepper = make(child)
        this.blocks.set(path, child)
      }
      child.send(event)
    })
  }
}

class LeafStepper implements Stepper {
  readonly #block: FoldedBlock
  readonly #table: LeafTable
  #snapshot: LeafSnapshot

  constructor(block: FoldedBlock, table: LeafTable, identity: BlockIdentity) {
    this.#block = block
    this.#table = table
    this.#snapshot = initialLeaf(identity)
  }

  step(event: BlockEvent): void {
    this.#snapshot = stepLeaf(this.#table, this.#snapshot, event as LeafEvent, this.#block)
  }

  state() {
    return { value: this.#snapshot.value, context: this.#snapshot.context }
  }
}

type MachineSnapshot = ReturnType<CompositeMachine['getInitialSnapshot']>
type Scope = ActorScope<MachineSnapshot, CompositeEvent>
type ExecutableAction = Parameters<Scope['actionExecutor']>[0]

/** A composite or a plan. */
class ParentStepper implements Stepper {
  readonly #block: FoldedBlock
  readonly #compiled: CompiledDocument
  readonly #machine: CompositeMachine
  readonly #leaves: LeafTable
  readonly #scope: Scope
  #snapshot: MachineSnapshot

  constructor(
    block: FoldedBlock,
    compiled: CompiledDocument,
    actor: AnyActorRef,
    identity: BlockIdentity
  ) {
    this.#block = block
    this.#compiled = compiled
    // The two machines differ in their contexts, into which nothing here looks.
    this.#machine = compiled.machine() as unknown as CompositeMachine
    this.#leaves = leafTable(compiled.plan)
    // The actor is never started; only its place in a system and its parent are used.
    const self: AnyActorRef = Object.create(actor, {
      getSnapshot: { value: () => this.#snapshot }
    })
    this.#scope = {
      self,
      id: actor.id,
      sessionId: actor.sessionId,
      system: actor.system,
      logger: () => undefined,
      defer: () => undefined,
      emit: () => undefined,
      stopChild: () => undefined,
      actionExecutor: (action) => this.#execute(action)
    }
    this.#snapshot = this.#machine.getInitialSnapshot(this.#scope, identity)
  }

  step(event: BlockEvent): void {
    this.#snapshot = this.#machine.transition(this.#snapshot, event as CompositeEvent, this.#scope)
    if (this.#snapshot.status === 'error') {
      throw new TallyError('core.internal', { problem: 'a composite chart failed in the fold' })
    }
  }

  state() {
    return { value: this.#snapshot.value, context: this.#snapshot.context }
  }

  #execute(action: ExecutableAction): void {
    const params = action.params as ActionParams | undefined
    if (action.type === 'tell' && params?.ask !== undefined) this.#block.ask(params.ask)
    if (action.type === 'send') return this.#sendToNode(action.params as unknown as SentToChild)
    if (action.type !== 'xstate.sendTo' || params?.event === undefined) return
    const { event, to } = params
    if (to === this.#scope.self._parent) this.#block.report(event as BlockReport)
    else if (to !== undefined) this.#block.sendTo(to.id, event, (child) => this.#child(child, to))
  }

  /** A plan makes its children itself: XState copies all that a parent has for each new one. */
  #sendToNode({ node, message }: SentToChild): void {
    this.#block.sendTo(node, message, (block) => {
      const child = present(this.#compiled.nodes.get(node), `node ${node}`)
      const { name, sideEffects } = child
      const identity = childIdentity(this.#identity, { name: node, block: name, sideEffects })
      if (child.kind === 'leaf') return new LeafStepper(block, this.#leaves, identity)
      const actor = actorOf(child, identity, this.#scope.self)
      return new ParentStepper(block, child, actor, identity)
    })
  }

  get #identity(): BlockIdentity {
    return (this.#snapshot.context as { readonly identity: BlockIdentity }).identity
  }

  #child(block: FoldedBlock, actor: AnyActorRef): Stepper {
    const compiled = this.#compiled.nodes.get(actor.id)
    const { identity } = actor.getSnapshot().context
    if (compiled !== undefined && compiled.kind !== 'leaf') {
      return new ParentStepper(block, compiled, actor, identity)
    }
    return new LeafStepper(block, this.#leaves, identity)
  }
}

interface ActionParams {
  readonly ask?: Ask
  readonly event?: BlockEvent
  readonly to?: AnyActorRef
}

function actorOf(
  compiled: CompiledDocument,
  input: BlockIdentity,
  parent?: AnyActorRef
): AnyActorRef {
  const place = parent === undefined ? {} : { parent }
  return createActor(compiled.logic as AnyActorLogic, { id: input.node, input, ...place })
}
