/**
 * The charts as data, as `createMachine` of XState takes them: names stand for what the runtime
 * does. `tally graph --format xstate` fills the charts of a document in.
 */

export { blockChart } from './block.js'
export {
  type ChartNode,
  type ChartTransition,
  type CompositeNode,
  type CompositeTemplate,
  compositeChart
} from './composite.js'
export { intentChart } from './intent.js'
export { ledgerChart } from './ledger.js'
export { type PlanTemplate, planChart } from './plan.js'
