import type { CompositeEvent } from '../../src/block/chart/protocol.js'
import type { Response } from '../../src/code/request.js'
import { isJsonObject, type Json, type JsonObject } from '../../src/core/index.js'

/**
 * The seed's loop with recovery, overlays and nesting, written as the loops they are: each `yield`
 * is a place where the run waits for an event. It knows documents and events, and nothing of the
 * charts.
 */
export interface ModelGraph {
  readonly max_steps: number
  readonly atomic?: boolean
  readonly entry_point: string
  readonly nodes: Readonly<Record<string, ModelNode>>
  readonly transitions: Readonly<Record<string, readonly ModelBranch[]>>
  readonly output?: { readonly ref: string }
}

export interface ModelNode {
  readonly block?: string
  readonly composite?: ModelGraph
  readonly input?: { readonly ref: string }
  readonly retry?: { readonly attempts: number; readonly delay: number }
  readonly repairs?: boolean
  readonly asks?: boolean
  readonly timeout?: number
}

export interface ModelBranch {
  /** A name, or `n == K` of the response's data; undefined matches always. */
  readonly condition?: string | { readonly is: number }
  readonly target: string
}

/** What a block says to the pump, reduced to what matters here. */
export type Said = JsonObject

/** Conditions by name; the same table is registered for the compiled charts. */
export const modelConditions: Readonly<Record<string, (data: Json) => boolean>> = {
  big: (data) => numberOf(data) > 5,
  odd: (data) => numberOf(data) % 2 === 1,
  throws: (data) => {
    if (numberOf(data) === 12) throw new Error('no')
    return numberOf(data) === 2
  }
}

function numberOf(data: Json): number {
  return isJsonObject(data) ? Number(data['n'] ?? 0) : 0
}

interface Call {
  readonly path: string
  readonly step: number
  readonly payload: Json
  readonly run: string
  readonly deadline: number | undefined
}

interface Ended {
  readonly success: boolean
  readonly data: Json
  readonly reason: string | undefined
}

type Run = Generator<Said, Ended, CompositeEvent>

/** What a response says. */
export function saidOf({ success, data, reason }: Response | Ended): Json {
  return success ? { data } : { reason: reason ?? null }
}

const fails = (reason: string): Ended => ({ success: false, data: null, reason })
const gives = (data: Json): Ended => ({ success: true, data, reason: undefined })
const ended = ({ success, data, reason }: Response): Ended => ({ success, data, reason })

/** One root block: feed it events, it says what it asks for and what it waits for. */
export class CompositeModel {
  readonly #graph: ModelGraph
  /** Child executions by path; they begin anew with another run. */
  readonly #counts = new Map<string, { readonly run: string; readonly count: number }>()
  #run: Run | undefined
  #step = 0
  #said: Said[] = []
  #at = 0
  /** What was asked for and not answered: a restored run asks for it again. */
  open: Said | undefined

  constructor(graph: ModelGraph) {
    this.#graph = graph
  }

  get isReady(): boolean {
    return this.#run === undefined
  }

  /** Events at a path other than the one that is open change nothing. */
  send(event: CompositeEvent): readonly Said[] {
    this.#at = event.at
    if (event.type === 'block.execute') this.#execute(event)
    else if (this.#run !== undefined) this.#advance(this.#run.next(event))
    const said = this.#said
    this.#said = []
    return said
  }

  #execute(event: Extract<CompositeEvent, { type: 'block.execute' }>): void {
    if (this.#run !== undefined) {
      this.#tell({ kind: 'settled', step: event.step, said: { reason: 'block_busy' } })
      return
    }
    const { recovery = [], onError, timeoutMs } = event.options
    const retry = recovery.find((one) => one.kind === 'retry')
    const node: ModelNode = {
      composite: this.#graph,
      asks: onError === 'ask',
      repairs: recovery.some((one) => one.kind === 'repair'),
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
      ...(retry === undefined
        ? {}
        : { retry: { attempts: retry.maxAttempts, delay: retry.intervalMs } })
    }
    const { payload, metadata } = event.request
    this.#step = event.step
    const call = { path: 'root', step: event.step, payload, run: metadata.runId }
    this.#run = this.#composite(node, this.#graph, { ...call, deadline: undefined }, false)
    this.#advance(this.#run.next())
  }

  #advance(result: IteratorResult<Said, Ended>): void {
    if (result.done !== true) {
      this.open = result.value
      return
    }
    this.#run = undefined
    this.open = undefined
    this.#tell({ kind: 'settled', step: this.#step, said: saidOf(result.value) })
  }

  #tell(said: Said): void {
    this.#said.push(said)
  }

  *#leaf(call: Call): Run {
    const { path, step, payload } = call
    const open = { kind: 'attempt', path, step, attempt: 1, payload }
    this.#tell(open)
    let waits = false
    for (;;) {
      const event = yield open
      const resumes = waits && event.type !== 'attempt.waiting'
      if (event.type === 'attempt.waiting') this.#tell({ kind: 'waiting', reason: 'external' })
      if (event.type === 'block.cancel') this.#tell({ kind: 'cancel', path })
      if (resumes) this.#tell({ kind: 'resumed' })
      waits = event.type === 'attempt.waiting'
      if (event.type === 'block.cancel') return fails('cancelled')
      if (event.type === 'attempt.settled') return ended(event.response)
    }
  }

  *#composite(node: ModelNode, graph: ModelGraph, given: Call, isInside: boolean): Run {
    const own = node.timeout === undefined ? [] : [this.#at + node.timeout]
    const deadlines = [...own, ...(given.deadline === undefined ? [] : [given.deadline])]
    const deadline = deadlines.length === 0 ? undefined : Math.min(...deadlines)
    const isAtomic = isInside || graph.atomic === true
    const plan = recoveryPlan(node)
    const { path } = given
    let { payload } = given
    for (let attempt = 1; ; attempt += 1) {
      const call = { ...given, payload, deadline }
      let end = yield* this.#attempt(graph, call, isAtomic, { attempt, isInside })
      if (end.success) return end
      const again = plan.next({ ...end, attempt, at: this.#at, deadline })
      if (again.kind === 'end') return end
      if (again.kind === 'repair') {
        payload = { fixed: true }
        continue
      }
      end = again.end
      const isRetry = again.kind === 'retry'
      const open: Said = isRetry
        ? { kind: 'timer', path, attempt, due: this.#at + again.delay }
        : { kind: 'decision', path, attempt, ...reasonOf(end), due: deadline ?? null }
      this.#tell(open)
      this.#tell({ kind: 'waiting', reason: isRetry ? 'retry' : 'decision' })
      const ends = ['block.cancel', 'timer.fired', 'decision.made'] as const
      const event = yield* this.#until(open, isRetry ? ends.slice(0, 2) : ends)
      this.#tell({ kind: 'resumed' })
      if (event.type === 'block.cancel') {
        this.#tell({ kind: 'cancel', path })
        return fails('cancelled')
      }
      if (event.type === 'decision.made') {
        if (event.action === 'skip') return gives(null)
        if (event.action === 'abort') return end
        if (event.action === 'patch' && event.patch !== undefined) {
          payload = merged(payload, event.patch)
        }
      } else if (!isRetry) return fails('timed_out')
    }
  }

  /** One attempt of the graph, in its overlay if it has one. */
  *#attempt(
    graph: ModelGraph,
    call: Call,
    isAtomic: boolean,
    { attempt, isInside }: { readonly attempt: number; readonly isInside: boolean }
  ): Run {
    const { path } = call
    for (;;) {
      if (isAtomic) this.#tell({ kind: 'scope.open', path, attempt, outermost: !isInside })
      const end = yield* this.#walk(graph, call, isAtomic)
      if (!isAtomic) return end
      const kind = end.success ? 'scope.commit' : 'scope.abort'
      const open: Said = { kind, path, attempt, said: saidOf(end) }
      this.#tell(open)
      const event = yield* this.#until(
        open,
        end.success ? ['scope.settled', 'scope.conflict'] : ['scope.settled']
      )
      if (event.type === 'scope.settled') return ended(event.response)
    }
  }

  /** The seed's loop. */
  *#walk(graph: ModelGraph, call: Call, isAtomic: boolean): Run {
    const responses: Record<string, Ended> = {}
    let current = graph.entry_point
    for (let steps = 0; ; steps += 1) {
      if (steps >= graph.max_steps) return fails('max_steps_exceeded')
      const node = graph.nodes[current] ?? {}
      const input = node.input === undefined ? call.payload : referred(node.input.ref, responses)
      if (input === undefined) return fails('input_execution_error')
      const child = {
        ...call,
        path: `${call.path}/${current}`,
        step: this.#count(call),
        payload: input
      }
      const end =
        node.composite === undefined
          ? yield* this.#leaf(child)
          : yield* this.#composite(node, node.composite, child, isAtomic)
      if (!end.success) return end
      responses[current] = end
      const branches = graph.transitions[current] ?? []
      if (branches.length === 0) {
        if (graph.output === undefined) return end
        const output = referred(graph.output.ref, responses)
        return output === undefined ? fails('output_execution_error') : gives(output)
      }
      const next = firstMatch(branches, end.data)
      if (next.target === undefined) return fails(next.reason)
      current = next.target
    }
  }

  *#until(
    open: Said,
    types: readonly CompositeEvent['type'][]
  ): Generator<Said, CompositeEvent, CompositeEvent> {
    for (;;) {
      const event = yield open
      if (types.includes(event.type)) return event
    }
  }

  #count({ path, run }: Call): number {
    const known = this.#counts.get(path)
    const count = (known?.run === run ? known.count : 0) + 1
    this.#counts.set(path, { run, count })
    return count
  }
}

type Next =
  | { readonly kind: 'end' }
  | { readonly kind: 'repair' }
  | { readonly kind: 'retry'; readonly delay: number; readonly end: Ended }
  | { readonly kind: 'ask'; readonly end: Ended }

/** Retry first, then repair once, then ask or give up; a deadline ends all of it. */
function recoveryPlan(node: ModelNode) {
  let stage: 'retry' | 'repair' | 'over' = 'retry'
  const giveUp = (end: Ended): Next => (node.asks === true ? { kind: 'ask', end } : { kind: 'end' })
  return {
    next(
      failure: Ended & {
        readonly attempt: number
        readonly at: number
        readonly deadline: number | undefined
      }
    ): Next {
      const { attempt, at, deadline, reason } = failure
      if (reason === 'cancelled' || (deadline !== undefined && at >= deadline)) {
        return { kind: 'end' }
      }
      const { retry } = node
      if (stage === 'retry' && retry !== undefined && attempt < retry.attempts) {
        const isLate = deadline !== undefined && at + retry.delay >= deadline
        if (isLate) return giveUp(fails('timed_out'))
        return { kind: 'retry', delay: retry.delay, end: failure }
      }
      if (stage !== 'over' && node.repairs === true) {
        stage = 'over'
        return { kind: 'repair' }
      }
      stage = 'over'
      return giveUp(failure)
    }
  }
}

function firstMatch(
  branches: readonly ModelBranch[],
  data: Json
):
  | { readonly target: string; readonly reason?: never }
  | { readonly target?: never; readonly reason: string } {
  for (const { condition, target } of branches) {
    if (condition === undefined) return { target }
    if (typeof condition === 'string') {
      try {
        if (modelConditions[condition]?.(data) === true) return { target }
      } catch {
        return { reason: 'condition_execution_error' }
      }
    } else {
      if (!isJsonObject(data) || data['n'] === undefined) {
        return { reason: 'condition_execution_error' }
      }
      if (numberOf(data) === condition.is) return { target }
    }
  }
  return { reason: 'no_transition' }
}

/** `nodes.<name>.response.data.<key>`, all that these documents refer to. */
function referred(ref: string, responses: Readonly<Record<string, Ended>>): Json | undefined {
  const [, name = '', , , key = ''] = ref.split('.')
  const data = responses[name]?.data
  return isJsonObject(data) ? data[key] : undefined
}

function merged(payload: Json, patch: Json): Json {
  return isJsonObject(payload) && isJsonObject(patch) ? { ...payload, ...patch } : patch
}

function reasonOf({ reason }: Ended): { readonly reason: Json } {
  return { reason: reason ?? null }
}
