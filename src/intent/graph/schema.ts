import type { z } from 'zod-pinned'
import { lazySchema, limits } from '../../core/index.js'

/**
 * The document schema `tally-graph/1` (C1): an execution graph, or an atomic composite of intents.
 * Unknown keys are refused. The published JSON Schema in `docs/schema/tally-graph-1.json` is made
 * from it.
 */
export const graphSchemaName = 'tally-graph/1'

const label = lazySchema((z) => z.string().min(1).max(128))
const stepId = lazySchema((z) =>
  z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
    .meta({ description: 'Letters, digits, _ and -, beginning with a letter; at most 64.' })
)
const milliseconds = lazySchema((z) => z.int().min(0).max(limits.RETRY_DELAY_MS_MAX))
const retries = lazySchema((z) =>
  z
    .int()
    .min(0)
    .max(limits.RETRY_ATTEMPTS_MAX - 1)
    .meta({ description: 'Tries after the first one.' })
)

const step = lazySchema((z) =>
  z.strictObject({
    id: stepId(),
    action: label()
      .optional()
      .meta({ description: 'An intent: who does it is chosen when it runs.' }),
    block: label().optional().meta({ description: 'A block by its name.' }),
    args: z
      .record(z.string(), z.json())
      .default({})
      .meta({ description: 'Its payload; $deps and $prev are added to it.' }),
    depends_on: z.array(stepId()).default([]),
    side_effects: z
      .enum(['none', 'idempotent', 'non_idempotent'])
      .optional()
      .meta({ description: 'What it may do outside at most.' }),
    retries: retries().optional(),
    retry_delay_ms: milliseconds().optional(),
    providers: z
      .array(label())
      .min(1)
      .max(64)
      .optional()
      .meta({ description: 'Who is tried next, in order, when it fails and nothing was done.' }),
    deferred: z
      .boolean()
      .optional()
      .meta({ description: 'In an atomic graph: is done after the commit, on its own.' }),
    timeout_ms: milliseconds().min(1).optional(),
    confirm: z
      .union([z.literal(true), z.strictObject({ message: z.string().max(2_000).optional() })])
      .optional()
  })
)

export const graphSchema = lazySchema((z) =>
  z.strictObject({
    schema: z.literal(graphSchemaName),
    name: label().regex(/^[a-z][A-Za-z0-9_-]*(\.[A-Za-z][A-Za-z0-9_-]*)*$/),
    version: label().default('1'),
    description: z.string().optional(),
    atomic: z
      .boolean()
      .default(false)
      .meta({ description: 'All steps or none, with one receipt; at least two steps.' }),
    parallel: z
      .boolean()
      .default(true)
      .meta({ description: 'False: one step after the other, to the same receipts.' }),
    retries: retries().optional(),
    retry_delay_ms: milliseconds().optional(),
    steps: z.array(step()).min(1).max(limits.GRAPH_NODES_MAX)
  })
)

export type GraphDocument = z.output<ReturnType<typeof graphSchema>>

/** The JSON Schema of a document as an author writes it, for editors and for `docs/schema/`. */
export const graphJsonSchema: () => unknown = lazySchema((z) =>
  z.toJSONSchema(graphSchema(), { io: 'input', target: 'draft-2020-12' })
)
