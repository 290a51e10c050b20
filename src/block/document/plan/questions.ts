import type { Json } from '../../../core/index.js'
import { heldFailure } from '../../chart/chart-run.js'
import { asJson } from '../../chart/composite-graph.js'
import { ParentDecisions } from '../../chart/parent.js'
import { itemsOf } from '../../chart/rows.js'
import type { CompositeEvent, Response } from '../../protocol.js'
import type { RetryDecision } from '../../retry-policy.js'
import type { Evaluated } from '../graph/expressions.js'
import type { PlanNodeResult } from './definition.js'
import type { PlanLibrary, PlanNode } from './library.js'
import { hasEnded, type NodeState, type PlanContext } from './node-state.js'

/** What a plan's guards and actions ask of its graph, its context and the event at hand. */
export class PlanQuestions {
  readonly library: PlanLibrary
  // Asked by a guard and then by an action: computed once for each context.
  readonly #outputs = new WeakMap<PlanContext, Evaluated<Json>>()
  readonly #decisions: ParentDecisions<PlanContext>

  constructor(library: PlanLibrary) {
    this.library = library
    this.#decisions = new ParentDecisions((name) => library.repair(name))
  }

  /** The plan's output once every node has ended; null when it has none. */
  output(context: PlanContext): Evaluated<Json> | null {
    const { output } = this.library
    if (output === null || context.open > 0) return null
    const known = this.#outputs.get(context)
    if (known !== undefined) return known
    const value = output.evaluate({
      request: context.request === null ? null : asJson(context.request),
      nodes: this.#responses(context)
    })
    this.#outputs.set(context, value)
    return value
  }

  /** The plan's response once every node has ended well, or was let fail. */
  result(context: PlanContext): Response {
    const output = this.output(context)
    const data = output?.ok === true ? output.value : { nodes: this.ends(context, true) }
    return { success: true, data, metadata: {} }
  }

  /** The plan's failure, with how every node stands. */
  stopped(context: PlanContext): Response {
    const failure = heldFailure(context)
    return { ...failure, details: { ...failure.details, nodes: this.ends(context, false) } }
  }

  /** How every node stands in the end, by id. */
  ends(context: PlanContext, withData: boolean): Json {
    const { nodes } = this.library
    const ends: PlanNodeResult[] = []
    for (const state of itemsOf(context.nodes)) {
      const node = nodes[ends.length]
      if (node !== undefined) ends.push(endOf(node, state, { ends, nodes, withData }))
    }
    return Object.fromEntries(nodes.map(({ name }, nodeIndex) => [name, plain(ends[nodeIndex])]))
  }

  decision(context: PlanContext, event: CompositeEvent): RetryDecision {
    return this.#decisions.of(context, event)
  }

  #responses(context: PlanContext): Json {
    const { nodes } = this.library
    const responses: [string, Json][] = []
    let nodeIndex = 0
    for (const state of itemsOf(context.nodes)) {
      const node = nodes[nodeIndex]
      nodeIndex += 1
      if (node?.isKept !== true || !hasEnded(state) || state.response === null) continue
      responses.push([node.name, { response: asJson(state.response) }])
    }
    return Object.fromEntries(responses)
  }
}

function endOf(
  node: PlanNode,
  state: NodeState,
  so: {
    readonly ends: readonly PlanNodeResult[]
    readonly nodes: readonly PlanNode[]
    readonly withData: boolean
  }
): PlanNodeResult {
  if (!hasEnded(state)) {
    // The plan was stopped before it began; what depends on something undone is blocked by it.
    const by = node.deps.find((dep) => isUndone(so.ends[dep]))
    const name = by === undefined ? undefined : so.nodes[by]?.name
    return name === undefined ? { status: 'cancelled' } : { status: 'blocked', by: name }
  }
  const { status, response, by } = state
  const { withData } = so
  return {
    status,
    ...(withData && status === 'done' && response !== null ? { data: response.data } : {}),
    ...(status === 'done' || response?.reason === undefined ? {} : { reason: response.reason }),
    ...(by === null ? {} : { by })
  }
}

function isUndone(end: PlanNodeResult | undefined): boolean {
  return end?.status === 'failed' || end?.status === 'blocked'
}

// Plain data; its type only lacks the index signature.
function plain(end: PlanNodeResult | undefined): Json {
  return (end ?? null) as Json
}
