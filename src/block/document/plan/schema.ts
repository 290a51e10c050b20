import { z } from 'zod'
import { limits } from '../../../core/index.js'
import { documentFields, label, nodeFields, nodeName, value } from '../graph/schema.js'
import { planSchemaName } from './definition.js'

/**
 * The document schema `tally-plan/1`. Unknown keys are refused. The published JSON Schema in
 * `docs/schema/tally-plan-1.json` is made from it.
 */
const { on_error: _, ...sharedFields } = nodeFields

const node = z.strictObject({
  id: nodeName,
  deps: z
    .array(nodeName)
    .max(limits.GRAPH_NODES_MAX)
    .default([])
    .meta({ description: 'Nodes that must be done before this one starts.' }),
  ...sharedFields,
  on_error: z
    .enum(['stop', 'continue', 'ask'])
    .optional()
    .meta({ description: 'What a failure that recovery does not cure leads to.' }),
  lane: label.optional()
})

export const planSchema = z.strictObject({
  schema: z.literal(planSchemaName),
  ...documentFields,
  order: z
    .enum(['arrival', 'declared'])
    .default('arrival')
    .meta({ description: 'Whether results are delivered as they come or in the order of nodes.' }),
  parallel: z.boolean().default(true),
  atomic: z.boolean().default(false),
  lanes: z
    .record(label, z.int().min(1).max(limits.GRAPH_NODES_MAX))
    .default({})
    .meta({ description: 'How many nodes of a lane may run at once.' }),
  nodes: z.array(node).min(1),
  output: value.optional()
})

export type PlanDocument = z.output<typeof planSchema>

/** The JSON Schema of a document as an author writes it, for editors and for `docs/schema/`. */
export function planJsonSchema(): unknown {
  return z.toJSONSchema(planSchema, { io: 'input', target: 'draft-2020-12' })
}
