import { z } from 'zod-pinned'
import { limits } from '../../core/index.js'
import { aisObject, chainId, description, extensions, label, nodeId, stepId } from './atoms.js'
import { simpleExecution } from './execution.js'
import { valueMap, valueSchema } from './value.js'

/** Names of the plans of AIS, as documents; 0.0.3 adds `assert`. */
export const planDocumentNames = ['ais-plan/0.0.2', 'ais-plan/0.0.3'] as const
/** What an agent writes: nodes without a workflow around them. */
export const planSkeletonName = 'ais-plan-skeleton/0.0.1'

const delay = z.int().min(1).max(limits.RETRY_DELAY_MS_MAX)

const planRetry = aisObject({
  interval_ms: delay,
  max_attempts: z.int().min(1).max(limits.POLL_ATTEMPTS_MAX).optional(),
  backoff: z.enum(['fixed', 'linear', 'exp']).optional()
})

const planNode = aisObject({
  id: nodeId,
  chain: chainId,
  kind: z.enum(['action_ref', 'query_ref', 'execution']),
  description: description.optional(),
  deps: z.array(nodeId).max(limits.GRAPH_NODES_MAX).optional(),
  condition: valueSchema.optional(),
  assert: valueSchema.optional(),
  assert_message: z.string().max(1_000).optional(),
  until: valueSchema.optional(),
  retry: planRetry.optional(),
  timeout_ms: delay.optional(),
  bindings: aisObject({ params: valueMap.optional() }).optional(),
  execution: simpleExecution,
  writes: z
    .array(
      aisObject({ path: z.string().min(1).max(512), mode: z.enum(['set', 'merge']).default('set') })
    )
    .max(16)
    .optional(),
  source: aisObject({
    workflow: z.strictObject({ name: label, version: z.string().max(64) }).optional(),
    node_id: nodeId.optional(),
    protocol: z.string().max(130).optional(),
    action: label.optional(),
    query: label.optional(),
    step_id: stepId.optional()
  }).optional()
})

export const planDocumentSchema = aisObject({
  schema: z.enum(planDocumentNames),
  meta: aisObject({
    created_at: z.string().max(64).optional(),
    name: label.optional(),
    description: description.optional()
  }).optional(),
  nodes: z.array(planNode).min(1).max(limits.GRAPH_NODES_MAX)
})

/** Nodes are those of a workflow, and are read as such. */
export const planSkeletonSchema = aisObject({
  schema: z.literal(planSkeletonName),
  meta: aisObject({ name: label.optional(), description: description.optional() }).optional(),
  default_chain: chainId.optional(),
  policy_hints: extensions
    .optional()
    .meta({ description: 'For people: no hint changes a policy.' }),
  nodes: z.array(z.json()).min(1).max(limits.GRAPH_NODES_MAX)
})

export type PlanDocument = z.output<typeof planDocumentSchema>
export type PlanDocumentNode = PlanDocument['nodes'][number]
export type PlanSkeleton = z.output<typeof planSkeletonSchema>
