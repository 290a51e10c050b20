import type { Json } from '../../../core/index.js'
import { textHash } from './jcs.js'
import type { JournalRow, RunStep } from './run-steps.js'
import { isObject } from './widgets.js'

export interface PromptSegment {
  readonly key: string
  readonly scope: string
  readonly label: string
  readonly source: string
  readonly hash: string
}

/** A turn of an agent, from the sealed answers of its model and the result of its step. */
export interface AgentTurn {
  readonly key: string
  readonly step: RunStep
  readonly agent: string
  readonly model: string
  readonly text: string
  readonly structured: Json | null
  readonly prompt: readonly PromptSegment[]
  readonly tools: readonly ToolUsed[]
  readonly warnings: readonly string[]
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly tokens: number
  /** In US dollars, where the model said it. */
  readonly cost: number | null
  /** What its agent had used in the run after it, where its step has succeeded. */
  readonly spent: { readonly tokens: number; readonly cost: number } | null
}

export interface ToolUsed {
  readonly key: string
  readonly name: string
  /** `done`, or how it was not. */
  readonly outcome: string
}

/** What was set for a turn before it began, from the input of its step. */
export interface TurnSettings {
  readonly mode: string
  /** Name of the schema that the answer has to have. */
  readonly expects: string
  readonly tokensMax: number | null
  readonly costMax: number | null
}

const member = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) ? value[name] : undefined
const textIn = (value: Json | undefined, name: string): string => {
  const found = member(value, name)
  return typeof found === 'string' ? found : ''
}
const numberIn = (value: Json | undefined, name: string): number | null => {
  const found = member(value, name)
  return typeof found === 'number' ? found : null
}
/** Amounts of money are decimal texts. */
const amountIn = (value: Json | undefined, name: string): number | null => {
  const found = Number(textIn(value, name) || Number.NaN)
  return Number.isFinite(found) ? found : null
}
const listIn = (value: Json | undefined, name: string): readonly Json[] => {
  const found = member(value, name)
  return Array.isArray(found) ? found : []
}

const TURN = 'agent.turn'

/** The turns of a run, in order; a step whose model has not answered yet is a turn without text. */
export function turnsOf(
  journal: readonly JournalRow[],
  steps: readonly RunStep[]
): readonly AgentTurn[] {
  return steps.flatMap((step) => {
    const entries = step.entries.flatMap((number) => journal[number]?.entry ?? [])
    const isTurn = entries.some((entry) => 'effect' in entry && entry.effect === TURN)
    if (!isTurn) return []
    // With tools, and where one was tried again, a turn is several questions to its model.
    const bodies = entries.flatMap((entry) =>
      entry.k === 'sealed' && entry.effect === TURN ? [entry.body as Json] : []
    )
    return [turnOf(step, bodies)]
  })
}

function turnOf(step: RunStep, bodies: readonly Json[]): AgentTurn {
  const body = bodies.at(-1)
  const data = step.response?.success === true ? (step.response.data as Json) : undefined
  const turn = member(data, 'turn')
  const agent = textIn(turn, 'agentId')
  const usages = bodies.map((one) => member(one, 'usage'))
  const tokensIn = sum(usages.map((usage) => numberIn(usage, 'inputTokens')))
  const tokensOut = sum(usages.map((usage) => numberIn(usage, 'outputTokens')))
  const spent = member(member(member(data, 'walk'), 'spent'), agent)
  return {
    key: `${step.step} ${step.path}`,
    step,
    agent,
    model: textIn(turn, 'model') || textIn(body, 'model'),
    text: textIn(body, 'finalText'),
    structured: member(body, 'structuredOutput') ?? null,
    prompt: listIn(turn, 'prompt').map((segment, place) => ({
      key: `${place} ${textIn(segment, 'hash')}`,
      scope: textIn(segment, 'scope'),
      label: textIn(segment, 'label'),
      source: textIn(segment, 'sourcePath'),
      hash: textIn(segment, 'hash')
    })),
    tools: listIn(turn, 'tools').map((tool, place) => ({
      key: `${place}`,
      name: typeof tool === 'string' ? tool : textIn(tool, 'tool'),
      outcome: textIn(tool, 'outcome')
    })),
    warnings: listIn(turn, 'warnings').map((warning) =>
      typeof warning === 'string' ? warning : JSON.stringify(warning)
    ),
    tokensIn,
    tokensOut,
    tokens:
      sum(usages.map((usage) => numberIn(usage, 'totalTokens'))) ??
      (tokensIn ?? 0) + (tokensOut ?? 0),
    cost: sum(usages.map((usage) => amountIn(usage, 'costUsd'))),
    spent: isObject(spent)
      ? { tokens: numberIn(spent, 'totalTokens') ?? 0, cost: amountIn(spent, 'costUsd') ?? 0 }
      : null
  }
}

/** Null where none is known. */
function sum(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((one) => one !== null)
  return known.length === 0 ? null : known.reduce((total, one) => total + one, 0)
}

/** Of the input of a turn's step, which its receipt has. */
export function settingsOf(payload: Json): TurnSettings {
  const node = member(payload, 'node')
  const budgets = member(member(payload, 'agent'), 'budgets')
  return {
    mode: textIn(node, 'turnMode'),
    expects: textIn(member(node, 'expectedOutput'), 'schemaRef'),
    tokensMax: numberIn(budgets, 'maxTokens'),
    costMax: amountIn(budgets, 'maxCostUsd')
  }
}

/** A price in dollars, with as many digits as it has. */
export function priceText(dollars: number): string {
  return `$${Number(dollars.toFixed(6))}`
}

const JOINT = '\n\n'
/** Hashes that are computed to cut one prompt at its segments. */
const HASHES_MAX = 2_000

/**
 * The texts of segments by their hashes, cut out of a request to a model: each is one whose hash is
 * that which is signed. The request joins them by a blank line, which they may have too.
 */
export async function segmentTexts(
  request: Json,
  segments: readonly Pick<PromptSegment, 'hash'>[]
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(segments.map(({ hash }) => hash))
  const texts = new Map<string, string>()
  let left = HASHES_MAX
  for (const joined of [
    textIn(request, 'systemPrompt'),
    textIn(member(request, 'turn'), 'prompt')
  ]) {
    const pieces = joined.split(JOINT)
    let from = 0
    for (let to = 1; to <= pieces.length && left > 0; to += 1) {
      left -= 1
      const text = pieces.slice(from, to).join(JOINT)
      const hash = await textHash(text)
      if (!wanted.has(hash)) continue
      texts.set(hash, text)
      from = to
    }
  }
  return texts
}
