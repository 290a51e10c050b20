import type { JournalEntry } from '../block/index.js'
import { AGENT_TOOL_EFFECTS, AGENT_TURN_BLOCK } from '../capability/index.js'
import type { Response } from '../code/index.js'
import type { Json } from '../core/index.js'
import type { Attributes } from './finished-span.js'

/**
 * Names and attributes of OpenTelemetry's conventions for generative AI (in development: they
 * change, and are given only where a program asks for them). No prompt and no answer is in them.
 */

/** What a span has beside, or instead of, what it has anyway. */
export interface GenAiSpan {
  readonly name: string
  readonly attributes: Attributes
}

export interface ModelCall {
  readonly model: string | undefined
  readonly usage: TokenUsage | undefined
}

export interface TokenUsage {
  readonly input: number
  readonly output: number
}

type Sealed = Extract<JournalEntry, { readonly k: 'sealed' }>

/** The effect by which a turn asks its model has the name of the block that does it. */
const CHAT = AGENT_TURN_BLOCK
const modelName = /^[\w.:/@-]{1,128}$/

/** A model call or a tool call; undefined for any other effect. */
export function genAiCall({ effect, body }: Sealed, run: string): GenAiSpan | undefined {
  if (effect.startsWith(AGENT_TOOL_EFFECTS)) {
    const tool = effect.slice(AGENT_TOOL_EFFECTS.length)
    return of('execute_tool', tool, run, { 'gen_ai.tool.name': tool })
  }
  if (effect !== CHAT) return undefined
  const model = modelIn(body)
  const usage = usageIn(body)
  return of('chat', model, run, {
    ...(model === undefined ? {} : { 'gen_ai.response.model': model }),
    ...(usage === undefined
      ? {}
      : {
          'gen_ai.usage.input_tokens': usage.input,
          'gen_ai.usage.output_tokens': usage.output
        })
  })
}

/** What is measured of a model call; undefined for any other effect. */
export function modelCallOf({ effect, body }: Sealed): ModelCall | undefined {
  return effect === CHAT ? { model: modelIn(body), usage: usageIn(body) } : undefined
}

/** A turn of an agent; undefined for any other step. */
export function genAiStep(
  block: string,
  agent: AgentSaid | undefined,
  run: string
): GenAiSpan | undefined {
  if (block !== AGENT_TURN_BLOCK) return undefined
  const { name, provider } = agent ?? {}
  return of('invoke_agent', name, run, {
    ...(name === undefined ? {} : { 'gen_ai.agent.name': name }),
    ...(provider === undefined ? {} : { 'gen_ai.provider.name': provider })
  })
}

/** Attributes of a run in which agents had turns; it keeps its name, which it began with. */
export function genAiRun(run: string): Attributes {
  return of('invoke_workflow', undefined, run, {}).attributes
}

/** What the result of a turn says of who had it. */
export interface AgentSaid {
  readonly name: string | undefined
  readonly provider: string | undefined
}

/** Undefined where a step is no turn, or has failed. */
export function agentIn(block: string, response: Response): AgentSaid | undefined {
  if (block !== AGENT_TURN_BLOCK || !response.success) return undefined
  const turn = memberOf(response.data as Json, 'turn')
  return { name: nameIn(turn, 'agentId'), provider: nameIn(turn, 'adapterKind') }
}

function of(operation: string, what: string | undefined, run: string, more: Attributes) {
  return {
    name: what === undefined ? operation : `${operation} ${what}`,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.conversation.id': run,
      ...more
    }
  }
}

const modelIn = (body: Json) => nameIn(body, 'model')

function nameIn(value: Json | undefined, name: string): string | undefined {
  const found = memberOf(value, name)
  return typeof found === 'string' && modelName.test(found) ? found : undefined
}

function usageIn(body: Json): TokenUsage | undefined {
  const usage = memberOf(body, 'usage')
  const [input, output] = [memberOf(usage, 'inputTokens'), memberOf(usage, 'outputTokens')]
  return typeof input === 'number' && typeof output === 'number' ? { input, output } : undefined
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: Json })[name]
    : undefined
}
