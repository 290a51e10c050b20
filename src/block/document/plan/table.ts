import { type ParentLogic, type ParentSnapshot, parentLogic } from '../../chart/parent-table.js'
import { planActions } from './actions.js'
import { planGuards } from './guards.js'
import type { PlanParts } from './machine.js'
import { idlePlan, type PlanContext } from './node-state.js'
import { PlanQuestions } from './questions.js'

/** A plan's chart as a table: what runs, and what the pure fold replays. */
export type PlanSnapshot = ParentSnapshot<PlanContext>
export type PlanLogic = ParentLogic<PlanContext>

export function planLogic({ config, library, children }: PlanParts): PlanLogic {
  const questions = new PlanQuestions(library)
  return parentLogic<PlanContext, object>({
    config,
    children,
    functions: { guards: planGuards(questions), actions: planActions(questions) },
    child: (name) => library.nodes[library.places.get(name) ?? -1],
    idle: (identity) => idlePlan(identity)
  })
}
