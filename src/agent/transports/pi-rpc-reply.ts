import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { TurnRequest, TurnResult } from '../adapters/adapter.js'
import { turnFailure } from './failures.js'
import { type RawReply, replyOf, usageOf } from './reply.js'
import { decimalText } from './sealable.js'

/**
 * The messages of one answer of pi as a turn's result: the last assistant message, and the usage of
 * all. The wall-clock times in them are left behind. Throws `malformed_response`.
 */
export function piRpcResult(request: TurnRequest, messages: readonly JsonObject[]): TurnResult {
  const answers = messages.filter(({ role }) => role === 'assistant')
  const last = answers.at(-1)
  if (last === undefined) throw turnFailure('malformed_response', {})
  const stopReason = last['stopReason']
  if (stopReason === 'aborted') throw turnFailure('aborted', {})
  const tools = [...new Set(answers.flatMap(toolNames))].sort()
  const isFailed = stopReason === 'error'
  const raw: RawReply = {
    status: isFailed ? 'failed' : 'completed',
    finalText: textOf(last, 'text', 'text'),
    reasoningText: textOf(last, 'thinking', 'thinking'),
    // pi has done its tools already: nothing is left to be done.
    toolCalls: [],
    usage: usageSum(answers),
    model: typeof last['model'] === 'string' ? last['model'] : '',
    warnings: [
      ...tools.map((tool) => `pi used its tool ${tool}`),
      ...(stopReason === 'length' ? ['cut off at the limit of tokens'] : [])
    ],
    ...(isFailed ? { error: failed } : {})
  }
  return replyOf(request, raw)
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

function usageSum(answers: readonly JsonObject[]): TurnResult['usage'] {
  let [input, output, total, cost] = [0, 0, 0, 0]
  for (const { usage } of answers) {
    if (!isJsonObject(usage)) continue
    const one = usageOf(usage['input'], usage['output'], usage['totalTokens'])
    input += one.inputTokens
    output += one.outputTokens
    total += one.totalTokens
    cost += costOf(usage['cost'])
  }
  const usage = usageOf(input, output, total)
  return cost > 0 ? { ...usage, costUsd: decimalText(cost) } : usage
}

function costOf(cost: Json | undefined): number {
  const total = isJsonObject(cost) ? cost['total'] : undefined
  // A sum that a double changes arrives as text.
  const value = typeof total === 'string' ? Number(total) : total
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
