import { askDecision, askTimer, type Sink } from '../chart/execution.js'
import { type ParentLogic, type ParentSnapshot, parentLogic } from '../chart/parent-table.js'
import { askPlanScope, planActions } from './actions.js'
import { planGuards } from './guards.js'
import type { PlanParts } from './machine.js'
import { PlanQuestions } from './questions.js'
import { idlePlan, type PlanContext } from './standing.js'

/** A plan's chart as a table: what runs. The pure fold interprets the same chart. */
export type PlanSnapshot = ParentSnapshot<PlanContext>
export type PlanLogic = ParentLogic<PlanContext>

export function planLogic({ config, library, children }: PlanParts): PlanLogic {
  const questions = new PlanQuestions(library)
  return parentLogic<PlanContext, object>({
    config,
    children,
    functions: { guards: planGuards(questions), actions: planActions(questions) },
    child: (name) => library.nodes[library.places.get(name) ?? -1],
    idle: (identity) => idlePlan(identity),
    askAgain
  })
}

/** What a restored plan itself waits for; its children ask for themselves. */
function askAgain(key: string, context: PlanContext, sink: Sink): void {
  switch (key) {
    case 'WAITING.retry':
      askTimer(context, sink)
      return
    case 'WAITING.decision':
      askDecision(context, sink)
      return
    case 'BUSY.commit':
      askPlanScope(context, 'scope.commit', sink)
      return
    case 'BUSY.abort':
      askPlanScope(context, 'scope.abort', sink)
      return
  }
}
