import type { CompositeEvent } from '../protocol.js'
import type { CompositeContext, CompositeQuestions, NodeParams } from './composite-questions.js'
import { parentGuards } from './parent-guards.js'

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
    ...parentGuards(questions)
  }
}
