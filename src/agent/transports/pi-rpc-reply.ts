import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { TurnError, TurnRequest, TurnResult } from '../adapters/adapter.js'
import { turnFailure } from './failures.js'
import { type RawReply, replyOf, type ToldUsage } from './reply.js'
import { decimalText } from './sealable.js'
import { truncated } from './truncated.js'

/**
 * The messages of one answer of pi as a turn's result: the last assistant message, and the usage of
 * all. The wall-clock times in them are left behind. Rejects with `malformed_response`.
 */
export async function piRpcResult(
  request: TurnRequest,
  messages: readonly JsonObject[]
): Promise<TurnResult> {
  const answers = messages.filter(({ role }) => role === 'assistant')
  const last = answers.at(-1)
  if (last === undefined) throw turnFailure('malformed_response', {})
  const stopReason = last['stopReason']
  if (stopReason === 'aborted') throw turnFailure('aborted', {})
  const tools = [...new Set(answers.flatMap(toolNames))].sort()
  const error = errorOf(stopReason)
  const raw: RawReply = {
    status: error === undefined ? 'completed' : 'failed',
    finalText: textOf(last, 'text', 'text'),
    reasoningText: textOf(last, 'thinking', 'thinking'),
    // pi has done its tools already: nothing is left to be done.
    toolCalls: [],
    usage: usageSum(answers),
    model: typeof last['model'] === 'string' ? last['model'] : '',
    warnings: tools.map((tool) => `pi used its tool ${tool}`),
    ...(error === undefined ? {} : { error })
  }
  return replyOf(request, raw)
}

/** Undefined for a stop that is an end of the answer; all others are none. */
function errorOf(stopReason: Json | undefined): TurnError | undefined {
  if (stopReason === 'stop' || stopReason === 'toolUse') return undefined
  return stopReason === 'error' ? failed : truncated(stopReason === 'length')
}

// What pi says about the failure may quote the prompt or a key.
const failed = {
  code: 'pi_failed',
  message: 'pi ended the turn with an error.',
  category: 'model',
  retryable: false
} as const

function contentOf(message: JsonObject): readonly JsonObject[] {
  const content = message['content']
  return Array.isArray(content) ? content.filter(isJsonObject) : []
}

function textOf(message: JsonObject, type: string, field: string): string {
  return contentOf(message)
    .filter((part) => part['type'] === type)
    .map((part) => part[field])
    .filter((part) => typeof part === 'string')
    .join('')
}

function toolNames(message: JsonObject): readonly string[] {
  return contentOf(message).flatMap(({ type, name }) =>
    type === 'toolCall' && typeof name === 'string' ? [name] : []
  )
}

/** The sum of all answers, or nothing where one of them does not tell. */
function usageSum(answers: readonly JsonObject[]): ToldUsage {
  let [input, output, total, cost] = [0, 0, 0, 0]
  for (const { usage } of answers) {
    if (!isJsonObject(usage)) return {}
    input += countOf(usage['input'])
    output += countOf(usage['output'])
    total += countOf(usage['totalTokens'] ?? 0)
    cost += costOf(usage['cost'])
  }
  const told = { inputTokens: input, outputTokens: output, totalTokens: total }
  return cost > 0 ? { ...told, costUsd: decimalText(cost) } : told
}

/** Not a number where it is none: a count that a double changes arrives as text, others do not. */
function countOf(value: Json | undefined): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

function costOf(cost: Json | undefined): number {
  const total = isJsonObject(cost) ? cost['total'] : undefined
  // A sum that a double changes arrives as text.
  const value = typeof total === 'string' ? Number(total) : total
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
