import type { Json } from '../../core/index.js'
import { intentBlocks } from '../names.js'
import type { IntentPlan, PlannedStep } from './plan.js'

/**
 * The plan of several steps as a document `tally-plan/1`: each step an intent with its own receipt,
 * the first failure stops what comes after it (semantics.md C1). A step is handed the results of
 * those it rests on as `$deps`, by their ids, and as `$prev` when it rests on one (C2).
 */
export function graphDocument({ intent, steps }: IntentPlan): Json {
  return {
    schema: 'tally-plan/1',
    name: intent.action,
    version: '1.0.0',
    order: 'declared',
    nodes: steps.map((step) => ({
      id: step.id,
      deps: [...step.dependsOn],
      block: intentBlocks.non_idempotent,
      input: { object: { action: { lit: step.canonical }, payload: payloadOf(step) } }
    }))
  }
}

function payloadOf({ args, dependsOn }: PlannedStep): Json {
  const given = Object.entries(args).map(([name, value]) => [name, { lit: value }] as const)
  const results = dependsOn.map((id) => [id, { ref: `nodes.${id}.response.data` }] as const)
  const [only] = results
  return {
    object: {
      ...Object.fromEntries(given),
      ...(results.length > 0 ? { $deps: { object: Object.fromEntries(results) } } : {}),
      ...(results.length === 1 && only !== undefined ? { $prev: only[1] } : {})
    }
  }
}
