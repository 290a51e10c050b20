import type { Response } from '../../code/index.js'
import { type Json, objectOf, present } from '../../core/index.js'
import { type BlockIdentity, type Decisions, heldFailure, idleRun } from './chart-run.js'
import {
  asJson,
  type Choice,
  type CompositeGraph,
  choose,
  type PlannedNode,
  type PlannedValue,
  type Responses
} from './composite-graph.js'
import type { Evaluated } from './expressions.js'
import { type ParentQuestions, type ParentRun, parentDecisions } from './parent.js'
import type { CompositeEvent } from './protocol.js'
import type { RetryDecision } from './retry-policy.js'
import { itemAt, withItem } from './rows.js'

/**
 * What a composite's guards and actions ask: the context that its chart keeps, and the questions
 * that are answered from it, the event and the compiled graph. An answer is computed once.
 */

export interface CompositeContext extends ParentRun {
  /** Child executions of this attempt, counted against `max_steps`. */
  readonly steps: number
  /**
   * Child executions of the run at this path. It continues through retries and later executions of
   * the node, so that a unit id is never given twice (L6); an actor taken from a pool starts anew
   * with another run.
   */
  readonly childExecutions: number
  readonly runId: string | null
  /** The node that runs. */
  readonly current: string | null
  readonly responses: Responses
}

export interface NodeParams {
  readonly node?: string
  readonly branch?: number
}

const noResponses: Responses = []

export function idleComposite(
  identity: BlockIdentity,
  counters: Pick<CompositeContext, 'childExecutions' | 'runId'> = {
    childExecutions: 0,
    runId: null
  }
): CompositeContext {
  const { childExecutions, runId } = counters
  return {
    steps: 0,
    childExecutions,
    runId,
    current: null,
    responses: noResponses,
    held: null,
    scopeAt: 0,
    ...idleRun(identity)
  }
}

// Answers are computed once for each event or context: guards and actions must agree, and
// conditions and repairs are the caller's code. Keyed by object, so they live as long as what they
// answer for.
interface Memory {
  readonly choices: WeakMap<object, Choice>
  /** By request, then by responses: a context changes more often than what values refer to. */
  readonly inputs: WeakMap<object, WeakMap<object, Map<string, Evaluated<Json>>>>
  readonly outputs: WeakMap<object, Evaluated<Json>>
}

/** The questions that guards and actions of one compiled composite ask. */
export class CompositeQuestions implements ParentQuestions<CompositeContext> {
  readonly plan: CompositeGraph
  readonly #memory: Memory = {
    choices: new WeakMap(),
    inputs: new WeakMap(),
    outputs: new WeakMap()
  }
  readonly isOutermostOverlay: boolean
  readonly #decisions: Decisions<CompositeContext>

  constructor(plan: CompositeGraph) {
    this.plan = plan
    this.isOutermostOverlay = plan.isOutermostOverlay
    this.#decisions = parentDecisions(plan)
  }

  node(params: NodeParams): PlannedNode | undefined {
    return params.node === undefined ? undefined : this.plan.nodes.get(params.node)
  }

  choice(context: CompositeContext, event: CompositeEvent, params: NodeParams): Choice {
    const known = this.#memory.choices.get(event)
    if (known !== undefined) return known
    const node = this.node(params) ?? this.#current(context)
    if (event.type !== 'block.settled' || node === undefined || context.request === null) {
      return { kind: 'failed' }
    }
    const choice = choose(node, event.response, context.request)
    this.#memory.choices.set(event, choice)
    return choice
  }

  /** The payload of a node about to run. */
  input(context: CompositeContext, node: PlannedNode): Evaluated<Json> {
    if (node.input === null) return { ok: true, value: context.request?.payload ?? null }
    const known = this.#inputsOf(context)
    let value = known.get(node.name)
    if (value === undefined) {
      value = this.#evaluate(node.input, context)
      known.set(node.name, value)
    }
    return value
  }

  #inputsOf({ request, responses }: CompositeContext): Map<string, Evaluated<Json>> {
    if (request === null) return new Map()
    let byResponses = this.#memory.inputs.get(request)
    if (byResponses === undefined) {
      byResponses = new WeakMap()
      this.#memory.inputs.set(request, byResponses)
    }
    let known = byResponses.get(responses)
    if (known === undefined) {
      known = new Map()
      byResponses.set(responses, known)
    }
    return known
  }

  output(context: CompositeContext, event: CompositeEvent): Evaluated<Json> | null {
    if (this.plan.output === null || event.type !== 'block.settled') return null
    const known = this.#memory.outputs.get(event)
    if (known !== undefined) return known
    const value = this.#evaluate(this.plan.output, this.#keeping(context, event))
    this.#memory.outputs.set(event, value)
    return value
  }

  /** The composite's response at its last node: that node's own, with `output` for its data. */
  result(context: CompositeContext, event: CompositeEvent): Response {
    if (event.type !== 'block.settled') return heldFailure(context)
    const output = this.output(context, event)
    if (output === null || !output.ok) return event.response
    return { success: true, data: output.value, metadata: {} }
  }

  decision(context: CompositeContext, event: CompositeEvent): RetryDecision {
    return this.#decisions.of(context, event)
  }

  /** A new attempt of the whole graph; the count of child executions continues. */
  restarted(context: CompositeContext): CompositeContext {
    const { noResponses } = this.plan
    return { ...context, steps: 0, current: null, responses: noResponses, held: null }
  }

  idle(context: CompositeContext): CompositeContext {
    return idleComposite(context.identity, context)
  }

  #current(context: CompositeContext): PlannedNode | undefined {
    return context.current === null ? undefined : this.plan.nodes.get(context.current)
  }

  #keeping(context: CompositeContext, event: CompositeEvent): CompositeContext {
    const place = this.#current(context)?.keptAt ?? null
    if (event.type !== 'block.settled' || place === null) return context
    return { ...context, responses: withItem(context.responses, place, event.response) }
  }

  #evaluate({ expression, reads }: PlannedValue, context: CompositeContext): Evaluated<Json> {
    const nodes: [string, Json][] = []
    for (const place of reads) {
      const response = itemAt(context.responses, place) ?? null
      if (response === null) continue
      nodes.push([present(this.plan.kept[place], 'a kept node'), { response: asJson(response) }])
    }
    return expression.evaluate({
      request: context.request === null ? null : asJson(context.request),
      nodes: objectOf(nodes)
    })
  }
}
