import type { z } from 'zod-pinned'
import { type Approvers, lazySchema, limits } from '../../core/index.js'
import { approversOf } from '../../identity/index.js'
import { planSchemaName } from './definition.js'

/**
 * The document schema `tally-composite/1`. Unknown keys are refused. The published JSON Schema in
 * `docs/schema/tally-composite-1.json` is made from it.
 */
export const compositeSchemaName = 'tally-composite/1'

// Begins with a letter and has no dot: XState reads dots as paths, and JavaScript sorts keys that
// look like integers before all others.
const nodeName = lazySchema((z) =>
  z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
    .meta({ description: 'Letters, digits, _ and -, beginning with a letter; at most 64.' })
)

const label = lazySchema((z) => z.string().min(1).max(128))
const milliseconds = lazySchema((z) => z.int().min(0).max(limits.RETRY_DELAY_MS_MAX))

const condition = lazySchema((z) =>
  z.union([label(), z.strictObject({ cel: z.string().min(1).max(limits.EXPRESSION_LENGTH_MAX) })])
)

/** Who has to sign an answer, in documents of every kind, made by the caller's copy of zod. */
export const approversSchema = (library: typeof z) =>
  library
    .strictObject({
      threshold: library.int().min(1).max(limits.APPROVERS_MAX),
      keys: library
        .array(library.string().regex(/^[0-9a-f]{64}$/))
        .min(1)
        .max(limits.APPROVERS_MAX)
    })
    .superRefine((given, { addIssue }) => {
      const named = approversOf(given)
      if ('problem' in named) addIssue({ code: 'custom', message: named.problem })
    })
    .meta({ description: 'Ed25519 keys of which so many have to sign the answer.' })

/** Approvers that {@link approversSchema} has let pass, as definitions keep them. */
export function approversIn(given: unknown): { readonly approvers?: Approvers } {
  const named = given === undefined ? undefined : approversOf(given)
  return named !== undefined && 'approvers' in named ? { approvers: named.approvers } : {}
}

const value = lazySchema((z) =>
  z.json().meta({ description: 'A value of lit, ref, cel, object or array.' })
)

const errors = lazySchema((z) =>
  z
    .array(label())
    .min(1)
    .optional()
    .meta({ description: 'Only for first failures of these error types.' })
)

const recovery = lazySchema((z) =>
  z.array(
    z.union([
      z.literal('bubble'),
      z.strictObject({
        retry: z.strictObject({
          max_attempts: z
            .int()
            .min(1)
            .max(limits.RETRY_ATTEMPTS_MAX)
            .meta({ description: 'Executions in all, the first one included.' }),
          interval_ms: milliseconds().default(0),
          backoff: z.enum(['fixed', 'linear', 'exp']).default('fixed'),
          max_interval_ms: milliseconds().optional()
        }),
        errors: errors()
      }),
      z.strictObject({ repair: label(), errors: errors() }),
      z.strictObject({ fallback: z.array(label()).min(1).max(64), errors: errors() }),
      z.strictObject({ bubble: z.literal(true), errors: errors() })
    ])
  )
)

const confirm = lazySchema((z) =>
  z
    .union([
      z.literal(true),
      z.strictObject({
        message: z.string().max(2_000).optional(),
        when: condition().optional(),
        approvers: approversSchema(z).optional()
      })
    ])
    .optional()
)

const transitions = lazySchema((z) =>
  z
    .record(
      nodeName(),
      z.union([
        nodeName(),
        z
          .array(z.strictObject({ condition: condition(), target: nodeName() }))
          .min(1)
          .max(limits.GRAPH_BRANCHES_MAX)
      ])
    )
    .default({})
)

/** What a document of either kind is called. */
const documentFields = lazySchema((z) => ({
  name: label().regex(/^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/),
  version: label(),
  description: z.string().optional()
}))

/** The two fit into each other. */
const nodesAndGraphs = lazySchema((z) => {
  /** What a node of either kind of graph says. */
  const nodeFields = {
    block: label().optional(),
    use: label().optional(),
    get composite() {
      return graph.optional()
    },
    input: value().optional(),
    context: z.array(label()).optional(),
    recovery: recovery().max(64).optional(),
    on_error: z.enum(['stop', 'ask']).optional(),
    timeout_ms: milliseconds().min(1).optional(),
    confirm: confirm(),
    side_effects: z.enum(['none', 'idempotent', 'non_idempotent']).optional(),
    deferred: z.boolean().optional().meta({
      description: 'Inside an atomic composite: done after its commit, as work of its own.'
    })
  }
  const node = z.strictObject(nodeFields)
  const graphFields = {
    max_steps: z.int().min(0).max(limits.MAX_STEPS_LIMIT).default(limits.MAX_STEPS_DEFAULT),
    atomic: z.boolean().default(false),
    entry_point: nodeName(),
    nodes: z.record(nodeName(), node),
    transitions: transitions(),
    output: value().optional()
  }
  const graph = z.strictObject(graphFields)
  return { nodeFields, graphFields, graph }
})

export const compositeSchema = lazySchema((z) =>
  z.strictObject({
    schema: z.literal(compositeSchemaName),
    ...documentFields(),
    ...nodesAndGraphs().graphFields
  })
)

export type GraphDocument = z.output<ReturnType<typeof nodesAndGraphs>['graph']>

/** The JSON Schema of a document as an author writes it, for editors and for `docs/schema/`. */
export const compositeJsonSchema: () => unknown = lazySchema((z) =>
  z.toJSONSchema(compositeSchema(), { io: 'input', target: 'draft-2020-12' })
)

const planNode = lazySchema((z) => {
  const { on_error: _, ...sharedFields } = nodesAndGraphs().nodeFields
  return z.strictObject({
    id: nodeName(),
    deps: z
      .array(nodeName())
      .max(limits.GRAPH_NODES_MAX)
      .default([])
      .meta({ description: 'Nodes that must be done before this one starts.' }),
    ...sharedFields,
    on_error: z
      .enum(['stop', 'continue', 'ask'])
      .optional()
      .meta({ description: 'What a failure that recovery does not cure leads to.' }),
    lane: label().optional()
  })
})

/**
 * The document schema `tally-plan/1`. Unknown keys are refused. The published JSON Schema in
 * `docs/schema/tally-plan-1.json` is made from it.
 */
export const planSchema = lazySchema((z) =>
  z.strictObject({
    schema: z.literal(planSchemaName),
    ...documentFields(),
    order: z.enum(['arrival', 'declared']).default('arrival').meta({
      description: 'Whether results are delivered as they come or in the order of nodes.'
    }),
    parallel: z.boolean().default(true),
    atomic: z.boolean().default(false),
    lanes: z
      .record(label(), z.int().min(1).max(limits.GRAPH_NODES_MAX))
      .default({})
      .meta({ description: 'How many nodes of a lane may run at once.' }),
    nodes: z.array(planNode()).min(1),
    output: value().optional()
  })
)

export type PlanDocument = z.output<ReturnType<typeof planSchema>>

/** The JSON Schema of a document as an author writes it, for editors and for `docs/schema/`. */
export const planJsonSchema: () => unknown = lazySchema((z) =>
  z.toJSONSchema(planSchema(), { io: 'input', target: 'draft-2020-12' })
)
