import { z } from 'zod-pinned'
import { limits } from '../../core/index.js'
import {
  aisObject,
  chainId,
  description,
  label,
  memberName,
  nodeId,
  protocolReference,
  semver,
  typeName
} from './atoms.js'
import type { ScopedValue } from './scope.js'
import { valueMap, valueSchema } from './value.js'

/**
 * `ais-flow/0.0.2` (the seed's) and `ais-flow/0.0.3`, which adds imports and `assert`:
 * the nodes of a workflow with their arguments. What runs when follows from the references (W2).
 */
export const flowSchemaNames = ['ais-flow/0.0.2', 'ais-flow/0.0.3'] as const

const delay = z.int().min(1).max(limits.RETRY_DELAY_MS_MAX)

const retry = aisObject({
  interval_ms: delay,
  max_attempts: z
    .int()
    .min(1)
    .max(limits.POLL_ATTEMPTS_MAX)
    .optional()
    .meta({ description: 'Executions in all, the first one included.' }),
  backoff: z.enum(['fixed', 'linear', 'exp']).default('fixed'),
  max_interval_ms: delay.optional()
})

/** What a failure leads to that retries do not cure (W9, W13). */
export const onError = z.enum(['stop', 'continue', 'ask'])
export type OnError = z.output<typeof onError>

/**
 * What a calculated field is instead: in the form of AIS a value that reads the node's parameters
 * and calculated fields, too; bare, a value of the workflow.
 */
const override = z.union([aisObject({ expr: valueSchema }), valueSchema])

const nodeFields = {
  id: nodeId,
  description: description.optional(),
  chain: chainId.optional(),
  type: z.enum(['action_ref', 'query_ref']),
  protocol: protocolReference,
  action: memberName.optional(),
  query: memberName.optional(),
  args: valueMap.default({}),
  calculated_overrides: z.record(memberName, override).default({}),
  deps: z.array(nodeId).max(limits.GRAPH_NODES_MAX).default([]),
  condition: valueSchema.optional(),
  until: valueSchema.optional(),
  retry: retry.optional(),
  timeout_ms: delay.optional(),
  on_error: onError.optional()
}

const nodeOf2 = aisObject(nodeFields)

const nodeOf3 = aisObject({
  ...nodeFields,
  assert: valueSchema.optional(),
  assert_message: z.string().max(1_000).optional()
})

const input = aisObject({
  type: typeName,
  required: z.boolean().default(false),
  default: z.json().optional(),
  example: z.json().optional(),
  description: description.optional()
})

const flowFields = {
  meta: aisObject({
    name: label,
    version: semver,
    description: description.optional()
  }),
  default_chain: chainId.optional(),
  requires_pack: aisObject({ name: label, version: semver }).optional(),
  inputs: z.record(memberName, input).default({}),
  policy: z.record(memberName, z.json()).optional(),
  preflight: aisObject({
    simulate: z.union([z.boolean(), z.record(nodeId, z.boolean())])
  }).optional(),
  outputs: z.record(memberName, valueSchema).optional(),
  on_error: onError.optional().meta({ description: 'Of nodes that say nothing themselves.' })
}

export const flowSchemaOf2 = aisObject({
  schema: z.literal(flowSchemaNames[0]),
  ...flowFields,
  nodes: z.array(nodeOf2).min(1).max(limits.GRAPH_NODES_MAX)
})

export const flowSchemaOf3 = aisObject({
  schema: z.literal(flowSchemaNames[1]),
  ...flowFields,
  imports: aisObject({
    protocols: z
      .array(
        aisObject({
          protocol: protocolReference,
          path: z.string().min(1).max(1_000),
          integrity: z
            .string()
            .regex(/^sha256:[0-9a-f]{64}$/)
            .optional()
            .meta({ description: 'SHA-256 of the bytes of the file.' })
        })
      )
      .max(1_024)
      .default([])
  }).optional(),
  nodes: z.array(nodeOf3).min(1).max(limits.GRAPH_NODES_MAX)
})

/** A workflow of AIS after it was read. */
export type FlowDocument = z.output<typeof flowSchemaOf2> | z.output<typeof flowSchemaOf3>
type Node3 = z.output<typeof nodeOf3>
/** A node of either version. */
export type FlowNode = z.output<typeof nodeOf2> & Partial<Omit<Node3, keyof typeof nodeFields>>
export type CalculatedOverride = z.output<typeof override>
export type FlowInput = z.output<typeof input>
export type FlowImport = NonNullable<z.output<typeof flowSchemaOf3>['imports']>['protocols'][number]

/** What a node puts in place of a calculated field, and what it may read (W3). */
export function overrideOf(override: CalculatedOverride): ScopedValue {
  return 'expr' in override
    ? { scope: 'override', value: override.expr }
    : { scope: 'flow', value: override }
}

/** Protocol files that a workflow names; only 0.0.3 can. */
export function importsOf(flow: FlowDocument): readonly FlowImport[] {
  return flow.schema === 'ais-flow/0.0.3' ? (flow.imports?.protocols ?? []) : []
}
