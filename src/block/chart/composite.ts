import type { AnyActorLogic } from 'xstate'
import type { ChartNode } from '../../../machines/composite.js'
import { type Json, present } from '../../core/index.js'
import {
  type BlockIdentity,
  begunRun,
  type Decisions,
  heldFailure,
  idleRun,
  reportWaiting,
  type Sink,
  sends
} from './chart-run.js'
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
import {
  executionOf,
  type ParentQuestions,
  type ParentRun,
  parentActions,
  parentDecisions,
  parentGuards
} from './parent.js'
import { type ParentLogic, type ParentSink, parentLogic } from './parent-table.js'
import {
  type CompositeEvent,
  type ExecuteEvent,
  failedResponse,
  type Response,
  reasons
} from './protocol.js'
import type { RetryDecision } from './retry-policy.js'
import { itemAt, withItem } from './rows.js'

/**
 * What a composite's chart does: the context, the questions that its guards and actions ask of the
 * graph, the guards and actions by the names of the template, and the table made of them.
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
      nodes: Object.fromEntries(nodes)
    })
  }
}

/** A function that `machines/composite.ts` names, over one compiled graph. Pure, never throwing. */
export type CompositeAction<Target = ParentSink> = (
  context: CompositeContext,
  event: CompositeEvent,
  params: NodeParams,
  sink: Target
) => CompositeContext

/** Guards by the names of the template. */
export function compositeGuards(questions: CompositeQuestions) {
  const { plan } = questions
  return {
    exhausted: (context: CompositeContext) => context.steps >= plan.maxSteps,
    inputFails: (context: CompositeContext, _event: CompositeEvent, params: NodeParams) => {
      const node = questions.node(params)
      return node !== undefined && !questions.input(context, node).ok
    },
    childFails: (_: CompositeContext, event: CompositeEvent) =>
      event.type === 'block.settled' && !event.response.success,
    conditionFails: (context: CompositeContext, event: CompositeEvent, params: NodeParams) =>
      questions.choice(context, event, params).kind === 'condition',
    takesBranch: (context: CompositeContext, event: CompositeEvent, params: NodeParams) => {
      const choice = questions.choice(context, event, params)
      return choice.kind === 'branch' && choice.branch === params.branch
    },
    outputFails: (context: CompositeContext, event: CompositeEvent) =>
      questions.output(context, event)?.ok === false,
    ...parentGuards(questions)
  }
}

/** Actions by the names of the template, except those that need the actor's children. */
export function compositeActions(questions: CompositeQuestions) {
  const { plan } = questions
  return {
    ...parentActions(questions),
    ...failures(questions),
    begin: (context, event) => {
      if (event.type !== 'block.execute') return context
      const { runId } = event.request.metadata
      return {
        steps: 0,
        childExecutions: runId === context.runId ? context.childExecutions : 0,
        runId,
        current: null,
        responses: plan.noResponses,
        held: null,
        scopeAt: 0,
        ...begunRun(context.identity, event)
      }
    },
    reportWaiting: sends((context, event, sink) => {
      if (event.type !== 'block.waiting') return
      reportWaiting({ ...context, wait: event.wait }, event.at, sink, event.sent)
    }),
    reportHeldWait: sends((context, event, sink) => reportWaiting(context, event.at, sink)),
    keepResponse: (context, event, params) => {
      const place = questions.node(params)?.keptAt ?? null
      return event.type === 'block.settled' && place !== null
        ? { ...context, responses: withItem(context.responses, place, event.response) }
        : context
    },
    holdOutput: (context, event) => ({
      ...context,
      current: null,
      held: questions.result(context, event)
    })
  } satisfies Readonly<Record<string, CompositeAction<Sink>>>
}

function failsWith(
  response: (context: CompositeContext, event: CompositeEvent, params: NodeParams) => Response
): CompositeAction<Sink> {
  return (context, event, params) => ({
    ...context,
    current: null,
    failure: response(context, event, params)
  })
}

function failures(questions: CompositeQuestions) {
  return {
    holdFailure: failsWith((context, event) =>
      event.type === 'block.settled' || event.type === 'scope.settled'
        ? event.response
        : heldFailure(context)
    ),
    failExhausted: failsWith((_context, _event, params) =>
      failedResponse(reasons.maxStepsExceeded, {
        max_steps: questions.plan.maxSteps,
        node: params.node ?? null
      })
    ),
    failInput: failsWith((context, _event, params) => {
      const node = questions.node(params)
      const input = node === undefined ? undefined : questions.input(context, node)
      return failedResponse(reasons.inputExecutionError, {
        node: params.node ?? null,
        code: input?.ok === false ? input.code : null
      })
    }),
    failOutput: failsWith((context, event) => {
      const output = questions.output(context, event)
      return failedResponse(reasons.outputExecutionError, {
        code: output?.ok === false ? output.code : null
      })
    }),
    failCondition: failsWith((context, event, params) => {
      const choice = questions.choice(context, event, params)
      return failedResponse(reasons.conditionExecutionError, {
        node: params.node ?? null,
        ...(choice.kind === 'condition' ? { condition: choice.condition, code: choice.code } : {})
      })
    }),
    failNoTransition: failsWith((_context, _event, params) =>
      failedResponse(reasons.noTransition, { node: params.node ?? null })
    )
  }
}

/** What a composite is made of. */
export interface CompositeParts {
  readonly config: ChartNode
  readonly plan: CompositeGraph
  /** Logic of the children by `src` name. */
  readonly children: Readonly<Record<string, AnyActorLogic>>
}

/**
 * A composite's compiled chart as a table: what runs, and what the pure fold replays. Tests hold it
 * to the same chart in XState's interpreter, state by state.
 */
export type CompositeLogic = ParentLogic<CompositeContext>

export function compositeLogic({ config, plan, children }: CompositeParts): CompositeLogic {
  const questions = new CompositeQuestions(plan)
  return parentLogic<CompositeContext, NodeParams>({
    config,
    children,
    functions: {
      guards: compositeGuards(questions),
      actions: { ...compositeActions(questions), ...childActions(questions) }
    },
    child: (name) => plan.nodes.get(name),
    idle: (identity) => idleComposite(identity)
  })
}

function childActions(questions: CompositeQuestions): Readonly<Record<string, CompositeAction>> {
  return {
    spawnChild: (context, _event, { node }) =>
      node === undefined ? context : afterCounting(context, node),
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

/** Counts a step before its child is executed; the child's `step` is the new `childExecutions`. */
export function countedStep(
  context: CompositeContext,
  node: string
): Pick<CompositeContext, 'steps' | 'childExecutions' | 'current'> {
  return {
    steps: context.steps + 1,
    childExecutions: context.childExecutions + 1,
    current: node
  }
}

/** {@link countedStep} in its context. Written out: a spread is most of what a step costs here. */
function afterCounting(context: CompositeContext, node: string): CompositeContext {
  const { steps, childExecutions, current } = countedStep(context, node)
  return {
    identity: context.identity,
    step: context.step,
    request: context.request,
    options: context.options,
    attempt: context.attempt,
    provider: context.provider,
    cursor: context.cursor,
    failure: context.failure,
    wait: context.wait,
    runId: context.runId,
    responses: context.responses,
    held: context.held,
    scopeAt: context.scopeAt,
    steps,
    childExecutions,
    current
  }
}

/** The message that executes a child, after the step was counted. */
export function executeEvent(
  questions: CompositeQuestions,
  context: CompositeContext,
  node: PlannedNode,
  at: number
): ExecuteEvent {
  const step = context.childExecutions
  const input = questions.input(context, node)
  return executionOf(context, node, { payload: input.ok ? input.value : null, step, at })
}
