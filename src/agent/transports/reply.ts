import type {
  ToolCall,
  TurnError,
  TurnRequest,
  TurnResult,
  TurnUsage
} from '../adapters/adapter.js'
import { sealable } from './sealable.js'
import { structuredIn } from './structured.js'

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
  readonly usage: TurnUsage
  readonly model: string
  readonly warnings: readonly string[]
  readonly error?: TurnError
}

/**
 * A reply as a turn's result: plain JSON that the ledger can keep. What it cannot keep is left out
 * with a warning, so that its reader finds it missing.
 */
export function replyOf(request: TurnRequest, raw: RawReply): TurnResult {
  const warnings = raw.warnings.map((warning) => warning.toWellFormed())
  const structured = structuredOf(request, raw, warnings)
  const reasoning = raw.reasoningText ?? ''
  return {
    status: raw.status,
    finalText: raw.finalText.toWellFormed(),
    ...(reasoning === '' ? {} : { reasoningText: reasoning.toWellFormed() }),
    ...(structured === undefined ? {} : { structuredOutput: structured }),
    toolCalls: raw.toolCalls.map(toolCallOf),
    usage: raw.usage,
    model: raw.model === '' ? (request.model ?? 'unknown') : raw.model.toWellFormed(),
    warnings,
    ...(raw.error === undefined ? {} : { error: raw.error })
  }
}

function structuredOf(request: TurnRequest, raw: RawReply, warnings: string[]) {
  const isExpected = request.expectedOutput !== undefined && raw.toolCalls.length === 0
  const found = raw.structuredOutput ?? (isExpected ? structuredIn(raw.finalText) : undefined)
  if (found === undefined || found === null) {
    if (isExpected) warnings.push('no structured output in the answer')
    return undefined
  }
  const kept = sealable(found)
  if (kept === undefined) warnings.push('the structured output cannot be kept in the ledger')
  return kept
}

// Arguments that the ledger cannot keep are handed back as text, for the tool policy to refuse.
function toolCallOf({ id, name, arguments: given }: RawReply['toolCalls'][number]): ToolCall {
  const kept = sealable(given) ?? JSON.stringify(given)?.toWellFormed() ?? null
  return { id: id.toWellFormed(), name: name.toWellFormed(), arguments: kept }
}

/** Usage from what a backend reports: anything but a count is zero. */
export function usageOf(
  input: unknown,
  output: unknown,
  total?: unknown
): Omit<TurnUsage, 'costUsd'> {
  const inputTokens = countOf(input)
  const outputTokens = countOf(output)
  const totalTokens = countOf(total) === 0 ? inputTokens + outputTokens : countOf(total)
  return { inputTokens, outputTokens, totalTokens }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
