import { type Json, present } from '../../../core/index.js'
import { executionOf } from '../../chart/composite-child.js'
import { asJson } from '../../chart/composite-graph.js'
import type { ParentSink } from '../../chart/parent-table.js'
import { itemAt, type Rows, withItem } from '../../chart/rows.js'
import { failedResponse, type Response, reasons } from '../../protocol.js'
import type { Evaluated } from '../graph/expressions.js'
import type { PlanNodeEnd } from './definition.js'
import type { PlanLibrary, PlanNode } from './library.js'
import {
  hasEnded,
  type LaneState,
  type NodeState,
  noPlaces,
  type PlanContext
} from './node-state.js'

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
  #nodes: Rows<NodeState>
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
    this.#nodes = context.nodes
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
      nodes: this.#nodes,
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
      nodes: Object.fromEntries(nodes)
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
    return present(this.#library.nodes[nodeIndex], `node ${nodeIndex}`)
  }

  #at(nodeIndex: number): NodeState {
    return present(itemAt(this.#nodes, nodeIndex), `node ${nodeIndex}`)
  }

  #set(nodeIndex: number, state: NodeState): void {
    this.#nodes = withItem(this.#nodes, nodeIndex, state)
  }
}

const emptyLane: LaneState = { running: 0, first: null, last: null }
