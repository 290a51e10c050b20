import type { Json } from '../../../core/index.js'
import type { JournalRow, RunStep } from './run-steps.js'
import { isObject } from './widgets.js'

export interface PromptSegment {
  readonly key: string
  readonly scope: string
  readonly label: string
  readonly source: string
  readonly hash: string
}

/** A turn of an agent, from the sealed answer of its model and the result of its step. */
export interface AgentTurn {
  readonly key: string
  readonly step: RunStep
  readonly agent: string
  readonly model: string
  readonly text: string
  readonly structured: Json | null
  readonly prompt: readonly PromptSegment[]
  readonly tools: readonly string[]
  readonly warnings: readonly string[]
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly tokens: number
  /** In US dollars, where a price is set. */
  readonly cost: number | null
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
const listIn = (value: Json | undefined, name: string): readonly Json[] => {
  const found = member(value, name)
  return Array.isArray(found) ? found : []
}

/** The turns of a run, in order; a step whose model has not answered yet is a turn without text. */
export function turnsOf(
  journal: readonly JournalRow[],
  steps: readonly RunStep[]
): readonly AgentTurn[] {
  return steps.flatMap((step) => {
    const entries = step.entries.flatMap((number) => journal[number]?.entry ?? [])
    const isTurn = entries.some((entry) => 'effect' in entry && entry.effect === 'agent.turn')
    if (!isTurn) return []
    const sealed = entries.findLast(
      (entry) => entry.k === 'sealed' && entry.effect === 'agent.turn'
    )
    const body = sealed?.k === 'sealed' ? sealed.body : undefined
    const data = step.response?.success === true ? step.response.data : undefined
    const turn = member(data as Json | undefined, 'turn')
    const usage = member(body, 'usage')
    const tokensIn = numberIn(usage, 'inputTokens')
    const tokensOut = numberIn(usage, 'outputTokens')
    return [
      {
        key: `${step.step} ${step.path}`,
        step,
        agent: textIn(turn, 'agentId'),
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
        tools: listIn(turn, 'tools').map((tool) =>
          typeof tool === 'string' ? tool : textIn(tool, 'name') || JSON.stringify(tool)
        ),
        warnings: listIn(turn, 'warnings').map((warning) =>
          typeof warning === 'string' ? warning : JSON.stringify(warning)
        ),
        tokensIn,
        tokensOut,
        tokens: numberIn(usage, 'totalTokens') ?? (tokensIn ?? 0) + (tokensOut ?? 0),
        cost: numberIn(body, 'costUsd') ?? numberIn(turn, 'costUsd')
      }
    ]
  })
}
