import { z } from 'zod-pinned'
import type { Json, JsonObject } from '../../core/index.js'
import type { ExpectedOutput, TurnMode } from '../adapters/adapter.js'
import type { OutputKind } from '../flow/schema.js'
import type { Score } from '../position/flow-position.js'
import type { TurnRules } from './rules.js'
import { shapeProblem } from './shape-problem.js'

/** Shapes that nodes of a flow may ask for, and the check of what came (semantics.md A6). */

const planStep = z.union([
  z.string().min(1),
  z.looseObject({ title: z.string().min(1), detail: z.string().optional() })
])
const planSchema = z.union([
  z.array(planStep).min(1),
  z.looseObject({ steps: z.array(planStep).min(1) })
])

// A fraction may come as decimal text: not every transport hands numbers on.
const fraction = z.union([z.number(), z.string().regex(/^\d+(\.\d+)?$/)])
const scoreSchema = z.looseObject({
  score: fraction.refine((value) => Number(value) >= 0 && Number(value) <= 1),
  canComplete: z.boolean(),
  reason: z.string()
})

const planOutput: ExpectedOutput = {
  schemaRef: 'plan',
  schema: {
    type: 'object',
    properties: {
      steps: {
        type: 'array',
        items: {
          type: 'object',
          properties: { title: { type: 'string' }, detail: { type: 'string' } },
          required: ['title']
        }
      }
    },
    required: ['steps']
  }
}

const scoreOutput: ExpectedOutput = {
  schemaRef: 'score',
  schema: {
    type: 'object',
    properties: {
      score: { type: 'number', minimum: 0, maximum: 1 },
      canComplete: { type: 'boolean' },
      reason: { type: 'string' }
    },
    required: ['score', 'canComplete', 'reason']
  }
}

/**
 * What a node's agent has to answer with. An explicit `text` asks for nothing; otherwise the turn's
 * mode decides, and where it says nothing, the agent's output kind.
 */
export function expectedOutputOf(options: {
  readonly turnMode: TurnMode
  readonly outputKind: OutputKind | undefined
  readonly outputSchema: JsonObject | undefined
}): ExpectedOutput | undefined {
  const { turnMode, outputKind, outputSchema } = options
  if (outputSchema !== undefined) return { schemaRef: 'custom', schema: outputSchema }
  if (outputKind === 'text') return undefined
  const kind = turnMode === 'plan' ? 'plan' : turnMode === 'evaluate' ? 'score' : outputKind
  if (kind === 'plan') return planOutput
  return kind === 'score' ? scoreOutput : undefined
}

/** What is wrong with an answer; undefined when it has the shape. */
export function outputProblem(
  expected: ExpectedOutput,
  output: Json | undefined,
  rules: TurnRules
): string | undefined {
  if (output === undefined) return 'there is no JSON in the answer'
  const result = schemaOf(expected).safeParse(output)
  if (result.success) return undefined
  return shapeProblem(output, result.error.issues[0], { whole: 'the answer', rules })
}

/** Whether a schema of a document is one. */
export function isJsonSchema(schema: JsonObject): boolean {
  try {
    customSchema(schema)
    return true
  } catch {
    return false
  }
}

function schemaOf({ schemaRef, schema }: ExpectedOutput): z.ZodType {
  if (schemaRef === 'plan') return planSchema
  return schemaRef === 'score' ? scoreSchema : customSchema(schema)
}

function customSchema(schema: JsonObject): z.ZodType {
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
}

/** The score of a checked answer. */
export function scoreOf(output: Json, nodeId: string): Score | undefined {
  const result = scoreSchema.safeParse(output)
  if (!result.success) return undefined
  const { score, canComplete } = result.data
  return { nodeId, score: Number(score), canComplete }
}

/** The reason of an evaluation, which is its text. */
export function reasonOf(output: Json): string | undefined {
  const result = scoreSchema.safeParse(output)
  return result.success ? result.data.reason : undefined
}
