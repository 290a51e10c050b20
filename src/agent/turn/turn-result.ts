import { z } from 'zod'
import type { Json } from '../../core/index.js'
import type { TurnResult } from '../adapters/adapter.js'
import { TurnFailed } from './failure.js'

const usageSchema = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  totalTokens: z.int().min(0),
  costUsd: z.string().optional()
})

const resultSchema = z.object({
  status: z.enum(['completed', 'failed', 'aborted']),
  finalText: z.string(),
  reasoningText: z.string().optional(),
  structuredOutput: z.json().optional(),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.json() })),
  usage: usageSchema,
  model: z.string(),
  warnings: z.array(z.string()),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      category: z.enum(['adapter', 'model', 'tool', 'budget', 'platform', 'unknown']),
      retryable: z.boolean()
    })
    .optional(),
  session: z.string().min(1).optional()
})

/** A sealed answer, checked: whoever answered may be anybody's adapter. */
export function checkedResult(answer: Json): TurnResult {
  const parsed = resultSchema.safeParse(answer)
  if (parsed.success) return parsed.data as TurnResult
  const issue = parsed.error.issues[0]
  const problem = `${issue?.path.map(String).join('.') ?? ''}: ${issue?.code ?? 'invalid'}`
  throw new TurnFailed('turn_failed', { error: { code: 'invalid_result', message: problem } })
}
