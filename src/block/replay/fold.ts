import { blockChart } from '../../../machines/block.js'
import type { ChartNode } from '../../../machines/composite.js'
import { ROOT_PATH } from '../../code/index.js'
import { blockError, present } from '../../core/index.js'
import { type BlockIdentity, rootCommand } from '../chart/chart-run.js'
import {
  initialLeaf,
  type LeafLibrary,
  type LeafSnapshot,
  type LeafTable,
  leafTable,
  stepLeaf
} from '../chart/leaf.js'
import type { ParentRun } from '../chart/parent.js'
import {
  type ChildTemplate,
  childIdentity,
  type ParentSink,
  type ParentStep,
  type ParentSteps
} from '../chart/parent-table.js'
import type {
  BlockCommand,
  BlockReport,
  CompositeEvent,
  Delivery,
  LeafEvent,
  PumpCommand
} from '../chart/protocol.js'
import type { CompiledFunction, CompiledNode, CompiledWithChildren } from '../document/compiled.js'

/**
 * The pure fold: what the charts of a run ask for when the recorded deliveries are given to them
 * again (architecture.md §4). No actor is started and nothing leaves; verification compares the
 * asks with what the journal says was attempted.
 *
 * Owns: one snapshot per block of the run. Does not own: the journal, or what an attempt gave.
 *
 * - D1: every block goes through the table of its chart. Tests give parents that go through
 *   XState's interpreter instead, and compare the two.
 * - D4: messages between blocks are delivered as XState does: each block has a queue, and what a
 *   transition sends is delivered after it, in order, depth first. So the asks come in live order.
 */
export class RunFold {
  readonly #blocks = new Map<string, FoldedBlock>()
  readonly #asks: PumpCommand[] = []

  constructor(
    root: CompiledNode | CompiledFunction,
    { library, makeParent = tableParent, observer }: FoldOptions
  ) {
    const identity: BlockIdentity = {
      path: ROOT_PATH,
      node: ROOT_PATH,
      block: root.name,
      sideEffects: root.sideEffects
    }
    const shared = { blocks: this.#blocks, asks: this.#asks, makeParent, observer }
    const block = new FoldedBlock(shared, undefined, ROOT_PATH)
    const stepper =
      root.kind === 'leaf'
        ? new LeafStepper(block, leafTable(library), identity)
        : makeParent(block, root, identity)
    block.begin(root, stepper)
    this.#blocks.set(ROOT_PATH, block)
  }

  /** Gives one delivery to the block at `path`; returns the asks that it led to, in order. */
  deliver(delivery: FoldDelivery): readonly PumpCommand[] {
    const block = this.#blocks.get(delivery.path)
    if (block === undefined) {
      throw blockError('block.unknown_path', { path: delivery.path })
    }
    block.send(delivery.event)
    return this.#asks.splice(0)
  }

  /** State value and context of the block at `path`, as a checkpoint has them. */
  stateOf(path: string): FoldedSnapshot | undefined {
    return this.#blocks.get(path)?.state()
  }
}

export interface FoldOptions {
  readonly library: LeafLibrary
  /** Tests give one that goes through XState's interpreter, and compare. Default: the tables. */
  readonly makeParent?: MakeParent
  readonly observer?: FoldObserver | undefined
}

/** Sees what happens in a fold, in order. Does not change what it is given. */
export interface FoldObserver {
  /** A block was made, before it gets anything; its parent was made before. */
  made(block: MadeBlock): void
  /** A block gets an event; `from` is the path of the block that sends it, null: the pump. */
  received(path: string, event: BlockEvent, from: string | null): void
  /** An event that the block got has changed its state value or context. */
  changed(path: string, state: FoldedSnapshot, event: BlockEvent): void
}

export interface MadeBlock {
  readonly path: string
  /** Null: it is the root. */
  readonly parent: string | null
  /** Of its node; the root has that of its document or block. */
  readonly name: string
  readonly config: ChartNode
  readonly state: FoldedSnapshot
}

/** State value and context of a block. */
export interface FoldedSnapshot {
  readonly value: unknown
  readonly context: unknown
}

/** Makes what a composite or plan is in the fold. */
export type MakeParent = (
  block: FoldedBlock,
  compiled: CompiledWithChildren,
  identity: BlockIdentity
) => Stepper

const tableParent: MakeParent = (block, compiled, identity) =>
  new ParentStepper(block, compiled, identity)

export interface FoldDelivery {
  readonly path: string
  readonly event: BlockCommand | Delivery
}

export type BlockEvent = BlockCommand | Delivery | BlockReport

export interface Stepper {
  /** One transition; asks and messages go to the block. */
  step(event: BlockEvent): void
  state(): FoldedSnapshot
}

/** What all blocks of one fold share. */
interface SharedFold {
  readonly blocks: Map<string, FoldedBlock>
  readonly asks: PumpCommand[]
  readonly makeParent: MakeParent
  readonly observer: FoldObserver | undefined
}

/** A block of the run with its queue. */
export class FoldedBlock {
  #stepper: Stepper | undefined
  readonly path: string
  readonly #shared: SharedFold
  readonly #parent: FoldedBlock | undefined
  readonly #queue: { readonly event: BlockEvent; readonly from: string | null }[] = []
  readonly #sent: (() => void)[] = []
  #isBusy = false

  constructor(shared: SharedFold, parent: FoldedBlock | undefined, path: string) {
    this.#shared = shared
    this.#parent = parent
    this.path = path
  }

  get makeParent(): MakeParent {
    return this.#shared.makeParent
  }

  /** Gives the block what it does; nothing is sent to it before. */
  begin(compiled: CompiledNode | CompiledFunction, stepper: Stepper): void {
    this.#stepper = stepper
    const { observer } = this.#shared
    if (observer === undefined) return
    const config = compiled.kind === 'leaf' ? blockChart : compiled.config
    const parent = this.#parent?.path ?? null
    const name = parent === null ? compiled.name : this.path.slice(parent.length + 1)
    observer.made({ path: this.path, parent, name, config, state: stepper.state() })
  }

  state(): FoldedSnapshot | undefined {
    return this.#stepper?.state()
  }

  send(event: BlockEvent, from: string | null = null): void {
    this.#queue.push({ event, from })
    if (this.#isBusy) return
    this.#isBusy = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#step(next.event, next.from)
      for (const deliver of this.#sent.splice(0)) deliver()
    }
    this.#isBusy = false
  }

  #step(event: BlockEvent, from: string | null): void {
    const { observer } = this.#shared
    const stepper = present(this.#stepper, `what ${this.path} does`)
    if (observer === undefined) return stepper.step(event)
    const before = stepper.state()
    observer.received(this.path, event, from)
    stepper.step(event)
    const state = stepper.state()
    if (state.value === before.value && state.context === before.context) return
    observer.changed(this.path, state, event)
  }

  ask(ask: PumpCommand): void {
    this.#shared.asks.push(ask)
  }

  report(report: BlockReport): void {
    const parent = this.#parent
    if (parent === undefined) this.ask(rootCommand(this.path, report))
    else this.#sent.push(() => parent.send(report, this.path))
  }

  /** Sends to the block of a child, made when first needed. */
  sendTo(node: string, event: BlockEvent, begin: (child: FoldedBlock) => void): void {
    this.#sent.push(() => {
      const path = `${this.path}/${node}`
      const { blocks } = this.#shared
      let child = blocks.get(path)
      if (child === undefined) {
        child = new FoldedBlock(this.#shared, this, path)
        begin(child)
        blocks.set(path, child)
      }
      child.send(event, this.path)
    })
  }
}

export class LeafStepper implements Stepper {
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

/** A composite or a plan. */
class ParentStepper implements Stepper {
  readonly #sink: ParentSink
  readonly #steps: ParentSteps<ParentRun>
  #step: ParentStep<ParentRun>

  constructor(block: FoldedBlock, compiled: CompiledWithChildren, identity: BlockIdentity) {
    // Composites and plans differ in their contexts, into which nothing here looks.
    this.#steps = compiled.logic.steps as unknown as ParentSteps<ParentRun>
    this.#step = this.#steps.initial(identity)
    this.#sink = {
      ask: (ask) => block.ask(ask),
      report: (report) => block.report(report),
      send: (node, event, template) =>
        block.sendTo(node, event, (child) =>
          beginChild(child, compiled, { node, identity, template })
        )
    }
  }

  step(event: BlockEvent): void {
    this.#step = this.#steps.step(this.#step, event as CompositeEvent, this.#sink)
  }

  state() {
    return { value: this.#step.state.value, context: this.#step.context }
  }
}

function beginChild(
  block: FoldedBlock,
  compiled: CompiledWithChildren,
  {
    node,
    identity,
    template
  }: {
    readonly node: string
    readonly identity: BlockIdentity
    readonly template: ChildTemplate | undefined
  }
): void {
  if (compiled.kind === 'function') {
    const called = present(template, `what ${node} is made from`)
    return beginCalled(block, compiled, { called, identity: childIdentity(identity, called) })
  }
  const child = present(compiled.nodes.get(node), `node ${node}`)
  const own = childIdentity(identity, present(compiled.logic.steps.child(node), `node ${node}`))
  const stepper =
    child.kind === 'leaf'
      ? new LeafStepper(block, leafTable(compiled.plan), own)
      : block.makeParent(block, child, own)
  block.begin(child, stepper)
}

/** A child that the code of a function has asked for. */
function beginCalled(
  block: FoldedBlock,
  { version, plan, scope }: CompiledFunction,
  { called, identity }: { readonly called: ChildTemplate; readonly identity: BlockIdentity }
): void {
  if (called.src === 'scope' && scope !== undefined) {
    return block.begin(scope, block.makeParent(block, scope, identity))
  }
  const { block: name, sideEffects } = called
  const leaf = { kind: 'leaf', reference: name, name, version, sideEffects } as const
  block.begin(leaf, new LeafStepper(block, leafTable(plan), identity))
}
