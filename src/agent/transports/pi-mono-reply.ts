import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { TurnError, TurnRequest, TurnResult } from '../adapters/adapter.js'
import { turnFailure } from './failures.js'
import { type RawReply, replyOf, type ToldUsage } from './reply.js'

/** Statuses of the contract; a backend that leaves it out means `completed`. */
const statuses: Readonly<Record<string, TurnResult['status']>> = {
  completed: 'completed',
  failed: 'failed',
  blocked: 'failed',
  timed_out: 'failed',
  aborted: 'aborted',
  interrupted: 'aborted'
}

/** What `POST /turns` answered, as a turn's result. Rejects with `malformed_response`. */
export async function piMonoResult(
  request: TurnRequest,
  answer: Json,
  how: { readonly endpoint: string; readonly runsTools: boolean; readonly earlierBytes?: number }
): Promise<TurnResult> {
  const { endpoint, runsTools, earlierBytes = 0 } = how
  if (!isJsonObject(answer)) throw turnFailure('malformed_response', { endpoint })
  const { usage, toolCalls, warnings, model, error, structuredOutput } = answer
  const given = answer['status'] ?? 'completed'
  const status = typeof given === 'string' ? statuses[given] : undefined
  if (status === undefined) throw turnFailure('malformed_response', { endpoint })
  const calls = Array.isArray(toolCalls) ? toolCalls.filter(isJsonObject).map(callOf) : []
  const raw: RawReply = {
    status,
    finalText: textOf(answer['finalText']),
    reasoningText: textOf(answer['reasoningText']),
    structuredOutput,
    // What the backend has done already is not to be done again here.
    toolCalls: runsTools ? [] : calls,
    usage: isJsonObject(usage) ? toldUsage(usage) : {},
    earlierBytes,
    model: textOf(model),
    warnings: [
      ...(Array.isArray(warnings) ? warnings.filter((one) => typeof one === 'string') : []),
      ...(runsTools ? usedTools(calls.map(({ name }) => name)) : [])
    ]
  }
  if (status === 'completed') return replyOf(request, raw)
  return replyOf(request, { ...raw, error: errorOf(error, String(given)) })
}

function toldUsage({ inputTokens, outputTokens, totalTokens }: JsonObject): ToldUsage {
  return { inputTokens, outputTokens, totalTokens }
}

/** What the other side did by itself, as warnings. */
export function usedTools(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort().map((name) => `the backend used its tool ${name}`)
}

function callOf(call: Readonly<Record<string, Json>>): RawReply['toolCalls'][number] {
  const { id, toolCallId, name, toolName } = call
  return {
    id: textOf(id ?? toolCallId),
    name: textOf(name ?? toolName),
    arguments: call['arguments'] ?? call['input'] ?? {}
  }
}

const categories = ['adapter', 'model', 'tool', 'budget', 'platform', 'unknown'] as const

// The backend's message may quote the prompt or a key, so only its label is kept.
function errorOf(error: Json | undefined, status: string): TurnError {
  const given = isJsonObject(error) ? error : {}
  const { code, category, retryable } = given
  const label = typeof code === 'string' && /^[A-Za-z][A-Za-z_]{0,63}$/.test(code) ? code : status
  return {
    code: label,
    message: `The backend ended the turn as ${status}.`,
    category: categories.find((one) => one === category) ?? 'unknown',
    retryable: retryable === true
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
