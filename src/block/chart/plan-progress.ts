import { failedResponse, type Response, reasons } from '../../code/index.js'
import { type Json, objectOf, present } from '../../core/index.js'
import { type BlockIdentity, idleRun } from './chart-run.js'
import { asJson, type PlannedNode } from './composite-graph.js'
import type { CompiledExpression, Evaluated } from './expressions.js'
import { executionOf, type ParentRun } from './parent.js'
import type { ParentSink } from './parent-table.js'
import type { PlanDelivery, PlanNodeEnd } from './plan-results.js'
import type { WaitReason } from './protocol.js'
import type { Repair } from './retry-policy.js'
import { type Rows, RowsChange } from './rows.js'

/** What a plan chart's functions look up: the compiled graph, beside the chart that is its data. */
export interface PlanLibrary {
  readonly delivery: PlanDelivery
  /** In the order of the plan: what a node depends on stands before it. */
  readonly nodes: readonly PlanNode[]
  /** Places in `nodes`, by id. */
  readonly places: ReadonlyMap<string, number>
  /** Places of the nodes that depend on nothing. */
  readonly roots: readonly number[]
  /** How every node stands before anything runs. */
  readonly initial: Rows<NodeState>
  readonly lanes: Readonly<Record<string, number>>
  readonly output: CompiledExpression<Json> | null
  readonly isScoped: boolean
  /** The plan whose commit is one receipt (C4). */
  readonly isOutermostOverlay: boolean
  repair(name: string): Repair | undefined
}

/** A node as the chart's functions need it. */
export interface PlanNode extends Omit<PlannedNode, 'branches' | 'input' | 'keptAt'> {
  readonly place: number
  readonly input: CompiledExpression<Json> | null
  /** Some value refers to this node's response. */
  readonly isKept: boolean
  /** Places of the nodes that it depends on, as declared, and of those that depend on it. */
  readonly deps: readonly number[]
  readonly dependents: readonly number[]
  /** Starts only when every node before it has ended (C2). */
  readonly isInLine: boolean
  /** A failure blocks only what depends on it (W9). */
  readonly continues: boolean
  readonly lane: string | null
}

/** How the nodes of one run of a plan stand. Plain JSON: all of it survives a restart. */

export type NodeState =
  /** Waits for nodes that it depends on. */
  | { readonly status: 'idle'; readonly missing: number }
  /** May start, and waits for its turn or for room in its lane; `next` in the lane's queue. */
  | { readonly status: 'queued'; readonly next: number | null }
  | { readonly status: 'running'; readonly isCancelled: boolean }
  | { readonly status: 'waiting'; readonly isCancelled: boolean; readonly sent: boolean }
  /** Ended; the data is kept where a value or the result needs it. */
  | { readonly status: PlanNodeEnd; readonly response: Response | null; readonly by: string | null }

/** A lane's room, and who waits for it: first and last of a queue that `next` joins. */
export interface LaneState {
  readonly running: number
  readonly first: number | null
  readonly last: number | null
}

export interface PlanContext extends ParentRun {
  readonly runId: string | null
  /**
   * Steps given to children of this path in this run. Every attempt takes one for each node, by its
   * place: so a unit's id does not depend on timing, and none is given twice (L6).
   */
  readonly childExecutions: number
  readonly nodes: Rows<NodeState>
  readonly lanes: Readonly<Record<string, LaneState>>
  /** Places that may start now; empty between two events. */
  readonly ready: readonly number[]
  /** Nodes under way, those that wait included. */
  readonly active: number
  readonly waiting: number
  /** Of those that wait, how many have sent something. */
  readonly sent: number
  /** Nodes that have not ended. */
  readonly open: number
  /** Every node before this place has ended. */
  readonly frontier: number
  /** Why the child waits that said so last. */
  readonly childReason: WaitReason
}

export type PlanCounters = Pick<PlanContext, 'childExecutions' | 'runId'>

export function idlePlan(
  identity: BlockIdentity,
  { childExecutions, runId }: PlanCounters = { childExecutions: 0, runId: null }
): PlanContext {
  return {
    runId,
    childExecutions,
    nodes: noNodes,
    lanes: noLanes,
    ready: noPlaces,
    active: 0,
    waiting: 0,
    sent: 0,
    open: 0,
    frontier: 0,
    childReason: 'external',
    held: null,
    scopeAt: 0,
    ...idleRun(identity)
  }
}

const noNodes: Rows<NodeState> = []
const noLanes: PlanContext['lanes'] = {}
const noPlaces: readonly number[] = []

export function hasEnded(
  state: NodeState
): state is Extract<NodeState, { readonly status: PlanNodeEnd }> {
  return (
    state.status === 'done' ||
    state.status === 'failed' ||
    state.status === 'blocked' ||
    state.status === 'cancelled'
  )
}

/**
 * What one event changes in how the nodes of a plan stand: a change under way, from one context to
 * the next. Pure but for what it tells the sink.
 *
 * - O(1) for an event, and for each node that it lets start or blocks; nothing walks all nodes.
 * - W9: a failure that is not let pass is kept as the plan's; nothing starts after it.
 */
export class Progress {
  readonly #library: PlanLibrary
  readonly #before: PlanContext
  readonly #ready: number[]
  readonly #nodes: RowsChange<NodeState>
  #lanes: PlanContext['lanes']
  #active: number
  #waiting: number
  #sent: number
  #open: number
  #frontier: number
  #failure: Response | null

  constructor(library: PlanLibrary, context: PlanContext) {
    this.#library = library
    this.#before = context
    this.#ready = [...context.ready]
    this.#nodes = new RowsChange(context.nodes)
    this.#lanes = context.lanes
    this.#active = context.active
    this.#waiting = context.waiting
    this.#sent = context.sent
    this.#open = context.open
    this.#frontier = context.frontier
    this.#failure = context.failure
  }

  /** Written out: a spread of so many members takes as long as the rest of a step of a plan. */
  get context(): PlanContext {
    const before = this.#before
    return {
      identity: before.identity,
      step: before.step,
      request: before.request,
      options: before.options,
      attempt: before.attempt,
      provider: before.provider,
      cursor: before.cursor,
      failure: this.#failure,
      wait: before.wait,
      runId: before.runId,
      childExecutions: before.childExecutions,
      nodes: this.#nodes.rows,
      lanes: this.#lanes,
      ready: this.#ready.length === 0 || this.#failure !== null ? noPlaces : this.#ready,
      active: this.#active,
      waiting: this.#waiting,
      sent: this.#sent,
      open: this.#open,
      frontier: this.#frontier,
      childReason: before.childReason,
      held: before.held,
      scopeAt: before.scopeAt
    }
  }

  /** A child has ended. */
  settled(nodeIndex: number, response: Response): void {
    const state = this.#at(nodeIndex)
    if (state.status !== 'running' && state.status !== 'waiting') return
    if (state.status === 'waiting') this.#leaveWaiting(state.sent)
    this.#active -= 1
    this.#leaveLane(nodeIndex)
    const isCancelled = state.isCancelled && response.reason === reasons.cancelled
    this.#end(nodeIndex, response, isCancelled ? 'cancelled' : response.success ? 'done' : 'failed')
  }

  waits(nodeIndex: number, sent: boolean): void {
    const state = this.#at(nodeIndex)
    if (state.status !== 'running' && state.status !== 'waiting') return
    if (state.status === 'waiting') this.#leaveWaiting(state.sent)
    this.#waiting += 1
    if (sent) this.#sent += 1
    this.#set(nodeIndex, { status: 'waiting', isCancelled: state.isCancelled, sent })
  }

  resumes(nodeIndex: number): void {
    const state = this.#at(nodeIndex)
    if (state.status !== 'waiting') return
    this.#leaveWaiting(state.sent)
    this.#set(nodeIndex, { status: 'running', isCancelled: state.isCancelled })
  }

  /** A child is being told to stop; false when it is not under way or was asked before. */
  cancels(nodeIndex: number): boolean {
    const state = this.#at(nodeIndex)
    if (state.status !== 'running' && state.status !== 'waiting') return false
    if (state.isCancelled) return false
    if (state.status === 'waiting') this.#leaveWaiting(state.sent)
    this.#set(nodeIndex, { status: 'running', isCancelled: true })
    return true
  }

  /** Starts what may start: all of it, or until a node's input fails and that stops the plan. */
  start(sink: ParentSink, at: number): void {
    for (let next = 0; next < this.#ready.length && this.#failure === null; next += 1) {
      this.#startNode(this.#node(this.#ready[next] ?? 0), sink, at)
    }
    this.#ready.length = 0
  }

  #startNode(node: PlanNode, sink: ParentSink, at: number): void {
    const { place: nodeIndex, lane } = node
    const { status } = this.#at(nodeIndex)
    if (status !== 'idle' && status !== 'queued') return
    if (node.isInLine && this.#frontier < nodeIndex) {
      return this.#set(nodeIndex, { status: 'queued', next: null })
    }
    if (lane !== null && this.#laneAt(lane).running >= (this.#library.lanes[lane] ?? 1)) {
      return this.#queue(nodeIndex, lane)
    }
    const input = this.#input(node)
    if (!input.ok) {
      const details = { node: node.name, code: input.code }
      this.#end(nodeIndex, failedResponse(reasons.inputExecutionError, details), 'failed')
      if (lane !== null) this.#takeNext(lane)
      return
    }
    this.#active += 1
    if (lane !== null) {
      const state = this.#laneAt(lane)
      this.#setLane(lane, { ...state, running: state.running + 1 })
    }
    this.#set(nodeIndex, { status: 'running', isCancelled: false })
    const { childExecutions } = this.#before
    const step = childExecutions - this.#library.nodes.length + nodeIndex + 1
    const payload = input.value
    sink.send(node.name, executionOf(this.#parentOf(nodeIndex), node, { payload, step, at }))
  }

  /** What the child gets of its parent: with declared order also its turn (D3). */
  #parentOf(nodeIndex: number): PlanContext {
    const before = this.#before
    if (this.#library.delivery === 'arrival') return before
    const { turns = [] } = before.options
    const turn = { plan: before.identity.path, place: nodeIndex }
    return { ...before, options: { ...before.options, turns: [...turns, turn] } }
  }

  #input(node: PlanNode): Evaluated<Json> {
    const { request } = this.#before
    if (node.input === null) return { ok: true, value: request?.payload ?? null }
    const nodes: [string, Json][] = []
    for (const dep of node.deps) {
      const state = this.#at(dep)
      const response = hasEnded(state) ? state.response : null
      if (response !== null) nodes.push([this.#node(dep).name, { response: asJson(response) }])
    }
    return node.input.evaluate({
      request: request === null ? null : asJson(request),
      nodes: objectOf(nodes)
    })
  }

  /** Writes down an end, and what follows from it for the nodes that wait for this one. */
  #end(nodeIndex: number, response: Response, status: PlanNodeEnd): void {
    const node = this.#node(nodeIndex)
    this.#setEnd(nodeIndex, status, node.isKept || status !== 'done' ? response : null, null)
    if (status === 'done') {
      for (const dependent of node.dependents) this.#depDone(dependent)
    } else if (status === 'failed' && node.continues) this.#block(nodeIndex)
    else if (status === 'failed') {
      const details = { ...response.details, failed_node: node.name }
      this.#failure ??= { ...response, details }
    }
    this.#moveFrontier()
  }

  #depDone(nodeIndex: number): void {
    const state = this.#at(nodeIndex)
    if (state.status !== 'idle') return
    if (state.missing > 1)
      return this.#set(nodeIndex, { status: 'idle', missing: state.missing - 1 })
    this.#set(nodeIndex, { status: 'queued', next: null })
    this.#ready.push(nodeIndex)
  }

  /** Everything that depends on this node, however far away. */
  #block(nodeIndex: number): void {
    const blockers = [nodeIndex]
    for (let blocker = blockers.pop(); blocker !== undefined; blocker = blockers.pop()) {
      const { name, dependents } = this.#node(blocker)
      for (const dependent of dependents) {
        if (hasEnded(this.#at(dependent))) continue
        this.#setEnd(dependent, 'blocked', null, name)
        blockers.push(dependent)
      }
    }
  }

  #setEnd(
    nodeIndex: number,
    status: PlanNodeEnd,
    response: Response | null,
    by: string | null
  ): void {
    this.#open -= 1
    this.#set(nodeIndex, { status, response, by })
  }

  /** Lets the next node in line start once all before it have ended (C2). */
  #moveFrontier(): void {
    if (this.#library.delivery === 'arrival') return
    const { nodes } = this.#library
    const before = this.#frontier
    while (this.#frontier < nodes.length && hasEnded(this.#at(this.#frontier))) this.#frontier += 1
    if (this.#frontier === before || this.#frontier >= nodes.length) return
    const isInLine = this.#node(this.#frontier).isInLine
    if (isInLine && this.#at(this.#frontier).status === 'queued') this.#ready.push(this.#frontier)
  }

  #queue(nodeIndex: number, lane: string): void {
    this.#set(nodeIndex, { status: 'queued', next: null })
    const state = this.#laneAt(lane)
    if (state.last !== null) this.#set(state.last, { status: 'queued', next: nodeIndex })
    this.#setLane(lane, { ...state, first: state.first ?? nodeIndex, last: nodeIndex })
  }

  #leaveLane(nodeIndex: number): void {
    const { lane } = this.#node(nodeIndex)
    if (lane === null) return
    const state = this.#laneAt(lane)
    this.#setLane(lane, { ...state, running: state.running - 1 })
    this.#takeNext(lane)
  }

  /** There is room for one more in a lane. */
  #takeNext(lane: string): void {
    const state = this.#laneAt(lane)
    const { first, last } = state
    if (first === null) return
    const queued = this.#at(first)
    const next = queued.status === 'queued' ? queued.next : null
    this.#setLane(lane, { ...state, first: next, last: next === null ? null : last })
    this.#ready.push(first)
  }

  #leaveWaiting(sent: boolean): void {
    this.#waiting -= 1
    if (sent) this.#sent -= 1
  }

  #laneAt(lane: string): LaneState {
    return Object.hasOwn(this.#lanes, lane) ? (this.#lanes[lane] ?? emptyLane) : emptyLane
  }

  #setLane(lane: string, state: LaneState): void {
    this.#lanes = { ...this.#lanes, [lane]: state }
  }

  #node(nodeIndex: number): PlanNode {
    return present(this.#library.nodes[nodeIndex], 'a node of the plan')
  }

  #at(nodeIndex: number): NodeState {
    return present(this.#nodes.at(nodeIndex), 'how a node of the plan stands')
  }

  #set(nodeIndex: number, state: NodeState): void {
    this.#nodes.set(nodeIndex, state)
  }
}

const emptyLane: LaneState = { running: 0, first: null, last: null }
