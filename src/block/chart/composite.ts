import type { AnyActorLogic } from 'xstate'
import type { ChartNode } from '../../../machines/composite.js'
import { failedResponse, type Response, reasons } from '../../code/index.js'
import { type Pieces, present } from '../../core/index.js'
import { begunRun, heldFailure, reportWaiting, type Sink, sends } from './chart-run.js'
import type { CompositeGraph, PlannedNode } from './composite-graph.js'
import {
  type CompositeContext,
  CompositeQuestions,
  idleComposite,
  type NodeParams
} from './composite-questions.js'
import { executionOf, parentActions, parentGuards } from './parent.js'
import { makingParentLogic, type ParentLogic, type ParentSink } from './parent-table.js'
import type { CompositeEvent, ExecuteEvent } from './protocol.js'
import { withItem } from './rows.js'

/**
 * What a composite's chart does: the guards and actions by the names of the template, and the table
 * made of them.
 */

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

export function* makingCompositeLogic({
  config,
  plan,
  children
}: CompositeParts): Pieces<CompositeLogic> {
  const questions = new CompositeQuestions(plan)
  return yield* makingParentLogic<CompositeContext, NodeParams>({
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
