import type { CompositeEvent } from '../protocol.js'
import type { CompositeContext, CompositeQuestions, NodeParams } from './composite-questions.js'

export type CompositeGuard = (
  context: CompositeContext,
  event: CompositeEvent,
  params: NodeParams
) => boolean

/** Guards by the names of the template. */
export function compositeGuards(
  questions: CompositeQuestions
): Readonly<Record<string, CompositeGuard>> {
  const { plan } = questions
  return {
    exhausted: (context) => context.steps >= plan.maxSteps,
    inputFails: (context, _event, params) => {
      const node = questions.node(params)
      return node !== undefined && !questions.input(context, node).ok
    },
    childFails: (_, event) => event.type === 'block.settled' && !event.response.success,
    conditionFails: (context, event, params) =>
      questions.choice(context, event, params).kind === 'condition',
    takesBranch: (context, event, params) => {
      const choice = questions.choice(context, event, params)
      return choice.kind === 'branch' && choice.branch === params.branch
    },
    outputFails: (context, event) => questions.output(context, event)?.ok === false,
    scopeSucceeds: (_, event) => event.type === 'scope.settled' && event.response.success,
    retriesLater: (context, event) => questions.decision(context, event).kind === 'retry',
    repairs: (context, event) => questions.decision(context, event).kind === 'repair',
    asks: (context, event) => questions.decision(context, event).kind === 'ask',
    choosesRetry: (_, event) => event.type === 'decision.made' && event.action === 'retry',
    choosesPatch: (_, event) => event.type === 'decision.made' && event.action === 'patch',
    choosesSkip: (_, event) => event.type === 'decision.made' && event.action === 'skip'
  }
}
