import type {
  ToolCall,
  TurnError,
  TurnRequest,
  TurnResult,
  TurnUsage
} from '../adapters/adapter.js'
import { sealable } from './sealable.js'
import { structuredInTurns } from './structured.js'

/** What a backend answered, before it is made fit to be sealed. */
export interface RawReply {
  readonly status: TurnResult['status']
  readonly finalText: string
  readonly reasoningText?: string
  /** Undefined: looked for in the text when the turn expects it. */
  readonly structuredOutput?: unknown
  readonly toolCalls: readonly {
    readonly id: string
    readonly name: string
    readonly arguments: unknown
  }[]
  /** Counts as the backend told them; what is no count was not told. */
  readonly usage: ToldUsage
  /** Bytes of what the model read beside the request: the system prompt, and earlier turns. */
  readonly earlierBytes?: number
  readonly model: string
  readonly warnings: readonly string[]
  readonly error?: TurnError
}

export interface ToldUsage {
  readonly inputTokens?: unknown
  readonly outputTokens?: unknown
  readonly totalTokens?: unknown
  readonly costUsd?: string
}

/**
 * A reply as a turn's result: plain JSON that the ledger can keep. What it cannot keep is left out
 * with a warning, so that its reader finds it missing.
 */
export async function replyOf(request: TurnRequest, raw: RawReply): Promise<TurnResult> {
  const warnings = raw.warnings.map((warning) => warning.toWellFormed())
  const structured = await structuredOf(request, raw, warnings)
  const reasoning = raw.reasoningText ?? ''
  const usage = usageOf(request, raw)
  if (usage.isUpperBound === true) {
    warnings.push(`usage was not told: counted as at most ${usage.totalTokens} tokens`)
  }
  return {
    status: raw.status,
    finalText: raw.finalText.toWellFormed(),
    ...(reasoning === '' ? {} : { reasoningText: reasoning.toWellFormed() }),
    ...(structured === undefined ? {} : { structuredOutput: structured }),
    toolCalls: await Promise.all(raw.toolCalls.map(toolCallOf)),
    usage,
    model: raw.model === '' ? (request.model ?? 'unknown') : raw.model.toWellFormed(),
    warnings,
    ...(raw.error === undefined ? {} : { error: raw.error })
  }
}

async function structuredOf(request: TurnRequest, raw: RawReply, warnings: string[]) {
  const isExpected = request.expectedOutput !== undefined && raw.toolCalls.length === 0
  const found =
    raw.structuredOutput ?? (isExpected ? await structuredInTurns(raw.finalText) : undefined)
  if (found === undefined || found === null) {
    if (isExpected) warnings.push('no structured output in the answer')
    return undefined
  }
  const kept = await sealable(found)
  if (kept === undefined) warnings.push('the structured output cannot be kept in the ledger')
  return kept
}

// Arguments that the ledger cannot keep are handed back as text, for the tool policy to refuse.
async function toolCallOf({
  id,
  name,
  arguments: given
}: RawReply['toolCalls'][number]): Promise<ToolCall> {
  const kept = (await sealable(given)) ?? JSON.stringify(given)?.toWellFormed() ?? null
  return { id: id.toWellFormed(), name: name.toWellFormed(), arguments: kept }
}

/**
 * Usage as the server reports it. A count that it leaves out is an upper bound: a token stands for
 * at least one byte, so there are no more tokens than bytes of what was sent and of what came.
 */
function usageOf(request: TurnRequest, raw: RawReply): TurnUsage {
  const told = raw.usage
  const input = countOf(told.inputTokens)
  const output = countOf(told.outputTokens)
  const inputTokens = input ?? requestBytes(request) + (raw.earlierBytes ?? 0)
  const outputTokens = output ?? answerBytes(raw)
  const isTold = input !== undefined && output !== undefined
  const total = isTold ? (countOf(told.totalTokens) ?? 0) : 0
  return {
    inputTokens,
    outputTokens,
    totalTokens: total === 0 ? inputTokens + outputTokens : total,
    ...(told.costUsd === undefined ? {} : { costUsd: told.costUsd }),
    ...(isTold ? {} : { isUpperBound: true })
  }
}

/** Bytes of a request: no fewer than the tokens that it is read as. */
export function requestBytes(request: TurnRequest): number {
  return Buffer.byteLength(JSON.stringify(request))
}

function answerBytes({ finalText, reasoningText = '', toolCalls, structuredOutput }: RawReply) {
  const said = [finalText, reasoningText, JSON.stringify([toolCalls, structuredOutput ?? null])]
  return said.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

function countOf(value: unknown): number | undefined {
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  return isCount ? value : undefined
}
