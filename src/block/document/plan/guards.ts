import { parentGuards } from '../../chart/parent-guards.js'
import { itemAt } from '../../chart/rows.js'
import type { CompositeEvent } from '../../protocol.js'
import type { PlanContext } from './node-state.js'
import type { PlanQuestions } from './questions.js'

export type PlanGuard = (context: PlanContext, event: CompositeEvent) => boolean

/** Guards by the names of `machines/plan.ts`. */
export function planGuards(questions: PlanQuestions): Readonly<Record<string, PlanGuard>> {
  const { library } = questions
  return {
    fails: (context) => context.failure !== null,
    outputFails: (context) => questions.output(context)?.ok === false,
    allSettled: (context) => context.open === 0,
    noneRuns: (context) => context.active === 0,
    onlyWaits: (context) => context.active > 0 && context.active === context.waiting,
    mayStop: (context, event) => {
      if (event.type !== 'block.waiting' || event.sent === true) return false
      const state = itemAt(context.nodes, library.places.get(event.node) ?? -1)
      return state?.status === 'running' && !state.isCancelled
    },
    ...parentGuards(questions)
  }
}
