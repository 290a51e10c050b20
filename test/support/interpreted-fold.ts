import { type ActorScope, type AnyActorLogic, type AnyActorRef, createActor } from 'xstate'
import type { BlockIdentity } from '../../src/block/chart/chart-run.js'
import { type LeafTable, leafTable } from '../../src/block/chart/leaf.js'
import { childIdentity } from '../../src/block/chart/parent-table.js'
import type { BlockReport, CompositeEvent, PumpCommand } from '../../src/block/chart/protocol.js'
import type { CompiledPlanGraph, CompiledWithChildren } from '../../src/block/document/compiled.js'
import {
  type BlockEvent,
  type FoldedBlock,
  LeafStepper,
  type MakeParent,
  type Stepper
} from '../../src/block/replay/fold.js'
import { coreError, present } from '../../src/core/index.js'
import {
  type CompositeMachine,
  compositeMachine,
  planMachine,
  type SentToChild
} from './interpreted-charts.js'

/**
 * The oracle of the pure fold: composites and plans go through XState's own interpreter,
 * `machine.transition` with an inert scope, as the tables must.
 */
export const interpretedParent: MakeParent = (block, compiled, identity) =>
  new InterpretedStepper(block, compiled, actorOf(compiled, identity), identity)

type MachineSnapshot = ReturnType<CompositeMachine['getInitialSnapshot']>
type Scope = ActorScope<MachineSnapshot, CompositeEvent>
type ExecutableAction = Parameters<Scope['actionExecutor']>[0]

const machines = new WeakMap<CompiledWithChildren, CompositeMachine>()

/** The two kinds of machines differ in their contexts, into which nothing here looks. */
function machineOf(compiled: CompiledWithChildren): CompositeMachine {
  const machine =
    machines.get(compiled) ??
    (compiled.kind === 'composite'
      ? compositeMachine(compiled)
      : (planMachine(compiled as CompiledPlanGraph) as unknown as CompositeMachine))
  machines.set(compiled, machine)
  return machine
}

/** A composite or a plan. */
class InterpretedStepper implements Stepper {
  readonly #block: FoldedBlock
  readonly #compiled: CompiledWithChildren
  readonly #machine: CompositeMachine
  readonly #leaves: LeafTable
  readonly #scope: Scope
  #snapshot: MachineSnapshot

  constructor(
    block: FoldedBlock,
    compiled: CompiledWithChildren,
    actor: AnyActorRef,
    identity: BlockIdentity
  ) {
    this.#block = block
    this.#compiled = compiled
    this.#machine = machineOf(compiled)
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
      throw coreError('core.internal', { problem: 'a composite chart failed in the fold' })
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
    else if (to !== undefined) {
      this.#block.sendTo(to.id, event, (child) => this.#beginChild(child, to))
    }
  }

  /** A plan makes its children itself: XState copies all that a parent has for each new one. */
  #sendToNode({ node, message }: SentToChild): void {
    this.#block.sendTo(node, message, (block) => {
      const child = present(this.#compiled.nodes.get(node), `node ${node}`)
      const place = present(this.#compiled.logic.steps.child(node), `node ${node}`)
      const identity = childIdentity(this.#identity, place)
      if (child.kind === 'leaf') {
        return block.begin(child, new LeafStepper(block, this.#leaves, identity))
      }
      const actor = actorOf(child, identity, this.#scope.self)
      block.begin(child, new InterpretedStepper(block, child, actor, identity))
    })
  }

  get #identity(): BlockIdentity {
    return (this.#snapshot.context as { readonly identity: BlockIdentity }).identity
  }

  #beginChild(block: FoldedBlock, actor: AnyActorRef): void {
    const compiled = present(this.#compiled.nodes.get(actor.id), `node ${actor.id}`)
    const { identity } = actor.getSnapshot().context
    const stepper =
      compiled.kind === 'leaf'
        ? new LeafStepper(block, this.#leaves, identity)
        : new InterpretedStepper(block, compiled, actor, identity)
    block.begin(compiled, stepper)
  }
}

interface ActionParams {
  readonly ask?: PumpCommand
  readonly event?: BlockEvent
  readonly to?: AnyActorRef
}

function actorOf(
  compiled: CompiledWithChildren,
  input: BlockIdentity,
  parent?: AnyActorRef
): AnyActorRef {
  const place = parent === undefined ? {} : { parent }
  return createActor(compiled.logic as AnyActorLogic, { id: input.node, input, ...place })
}
