import type { Json } from '../../core/index.js'
import type { IntentPlan } from './plan.js'

/**
 * The plan of several steps as a document `tally-graph/1`: each step an intent with its own
 * receipt, the first failure stops what comes after it (semantics.md C1).
 */
export function graphDocument({ intent, steps }: IntentPlan): Json {
  return {
    schema: 'tally-graph/1',
    name: intent.action,
    steps: steps.map(({ id, canonical, args, dependsOn }) => ({
      id,
      action: canonical,
      args,
      depends_on: [...dependsOn]
    }))
  }
}
