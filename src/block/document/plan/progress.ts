import { type Json, present } from '../../../core/index.js'
import { executionOf } from '../../chart/composite-child.js'
import { asJson } from '../../chart/composite-plan.js'
import type { ParentSink } from '../../chart/parent-table.js'
import { itemAt, type Rows, withItem } from '../../chart/rows.js'
import { failedResponse, type Response, reasons } from '../../protocol.js'
import type { Evaluated } from '../graph/expressions.js'
import type { PlanNodeEnd } from './definition.js'
import type { PlanLibrary, PlanNode } from './library.js'
import { hasEnded, type LaneState, type NodeState, noPlaces, type PlanContext } from './standing.js'

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
  settled(place: number, response: Response): void {
    const state = this.#at(place)
    if (state.status !== 'running' && state.status !== 'waiting') return
    if (state.status === 'waiting') this.#leaveWaiting(state.sent)
    this.#active -= 1
    this.#leaveLane(place)
    const isCancelled = state.isCancelled && response.reason === reasons.cancelled
    this.#end(place, response, isCancelled ? 'cancelled' : response.success ? 'done' : 'failed')
  }

  waits(place: number, sent: boolean): void {
    const state = this.#at(place)
    if (state.status !== 'running' && state.status !== 'waiting') return
    if (state.status === 'waiting') this.#leaveWaiting(state.sent)
    this.#waiting += 1
    if (sent) this.#sent += 1
    this.#set(place, { status: 'waiting', isCancelled: state.isCancelled, sent })
  }

  resumes(place: number): void {
    const state = this.#at(place)
    if (state.status !== 'waiting') return
    this.#leaveWaiting(state.sent)
    this.#set(place, { status: 'running', isCancelled: state.isCancelled })
  }

  /** A child is being told to stop; false when it is not under way or was told before. */
  cancels(place: number): boolean {
    const state = this.#at(place)
    if (state.status !== 'running' && state.status !== 'waiting') return false
    if (state.isCancelled) return false
    if (state.status === 'waiting') this.#leaveWaiting(state.sent)
    this.#set(place, { status: 'running', isCancelled: true })
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
    const { place, lane } = node
    const { status } = this.#at(place)
    if (status !== 'idle' && status !== 'queued') return
    if (node.isInLine && this.#frontier < place) {
      return this.#set(place, { status: 'queued', next: null })
    }
    if (lane !== null && this.#laneAt(lane).running >= (this.#library.lanes[lane] ?? 1)) {
      return this.#queue(place, lane)
    }
    const input = this.#input(node)
    if (!input.ok) {
      const details = { node: node.name, code: input.code }
      this.#end(place, failedResponse(reasons.inputExecutionError, details), 'failed')
      if (lane !== null) this.#takeNext(lane)
      return
    }
    this.#active += 1
    if (lane !== null) {
      const state = this.#laneAt(lane)
      this.#setLane(lane, { ...state, running: state.running + 1 })
    }
    this.#set(place, { status: 'running', isCancelled: false })
    const { childExecutions } = this.#before
    const step = childExecutions - this.#library.nodes.length + place + 1
    const payload = input.value
    sink.send(node.name, executionOf(this.#parentOf(place), node, { payload, step, at }))
  }

  /** What the child is told of its parent: with declared order also its turn (D3). */
  #parentOf(place: number): PlanContext {
    const before = this.#before
    if (this.#library.delivery === 'arrival') return before
    const { turns = [] } = before.options
    const turn = { plan: before.identity.path, place }
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
  #end(place: number, response: Response, status: PlanNodeEnd): void {
    const node = this.#node(place)
    this.#setEnd(place, status, node.isKept || status !== 'done' ? response : null, null)
    if (status === 'done') {
      for (const dependent of node.dependents) this.#depDone(dependent)
    } else if (status === 'failed' && node.goesOn) this.#block(place)
    else if (status === 'failed') {
      const details = { ...response.details, failed_node: node.name }
      this.#failure ??= { ...response, details }
    }
    this.#moveFrontier()
  }

  #depDone(place: number): void {
    const state = this.#at(place)
    if (state.status !== 'idle') return
    if (state.missing > 1) return this.#set(place, { status: 'idle', missing: state.missing - 1 })
    this.#set(place, { status: 'queued', next: null })
    this.#ready.push(place)
  }

  /** Everything that depends on this node, however far away. */
  #block(place: number): void {
    const blockers = [place]
    for (let blocker = blockers.pop(); blocker !== undefined; blocker = blockers.pop()) {
      const { name, dependents } = this.#node(blocker)
      for (const dependent of dependents) {
        if (hasEnded(this.#at(dependent))) continue
        this.#setEnd(dependent, 'blocked', null, name)
        blockers.push(dependent)
      }
    }
  }

  #setEnd(place: number, status: PlanNodeEnd, response: Response | null, by: string | null): void {
    this.#open -= 1
    this.#set(place, { status, response, by })
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

  #queue(place: number, lane: string): void {
    this.#set(place, { status: 'queued', next: null })
    const state = this.#laneAt(lane)
    if (state.last !== null) this.#set(state.last, { status: 'queued', next: place })
    this.#setLane(lane, { ...state, first: state.first ?? place, last: place })
  }

  #leaveLane(place: number): void {
    const { lane } = this.#node(place)
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

  #node(place: number): PlanNode {
    return present(this.#library.nodes[place], `node ${place}`)
  }

  #at(place: number): NodeState {
    return present(itemAt(this.#nodes, place), `node ${place}`)
  }

  #set(place: number, state: NodeState): void {
    this.#nodes = withItem(this.#nodes, place, state)
  }
}

const emptyLane: LaneState = { running: 0, first: null, last: null }
