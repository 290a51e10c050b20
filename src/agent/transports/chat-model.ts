import type { LanguageModel } from 'ai'
import type { AdapterSettings } from '../adapters/adapter.js'
import { loadDeepSeek, loadOpenAiCompatible } from './ai-library.js'
import type { Fetch } from './bounded-fetch.js'
import { baseUrlOf, baseUrlProblem, refuseProblems } from './endpoint.js'

/** Chat completions: with DeepSeek's reasoning and tools, or as most other servers speak them. */
export type ChatTransport = 'deepseek' | 'openai-compatible'

/** Makes the model of a turn over the `fetch` of that turn. */
export type ChatModels = (options: {
  readonly model: string
  readonly fetch: Fetch
}) => LanguageModel

/** What chat completions need beside the turn; empty when nothing is missing. */
export function chatProblems(settings: AdapterSettings): readonly string[] {
  const problem = baseUrlProblem(settings.baseUrl)
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(isGiven(settings.apiKey) ? [] : ['apiKey is missing'])
  ]
}

/** A turn may name another model than the settings, but none goes without one. */
export function modelProblems({ model }: AdapterSettings): readonly string[] {
  return isGiven(model) ? [] : ['model is missing']
}

/** Loads the provider's library. Throws `invalid_settings` or `agent.missing_library`. */
export async function chatModels(
  transport: ChatTransport,
  settings: AdapterSettings
): Promise<ChatModels> {
  refuseProblems(chatProblems(settings))
  const baseURL = baseUrlOf(settings.baseUrl)
  const apiKey = settings.apiKey ?? ''
  if (transport === 'deepseek') {
    const { createDeepSeek } = await loadDeepSeek()
    return ({ model, fetch }) => createDeepSeek({ baseURL, apiKey, fetch })(model)
  }
  const { createOpenAICompatible } = await loadOpenAiCompatible()
  const supportsStructuredOutputs = settings.options?.['structuredOutputs'] === true
  const common = { name: CHAT_PROVIDER, baseURL, apiKey, includeUsage: true }
  return ({ model, fetch }) =>
    createOpenAICompatible({ ...common, supportsStructuredOutputs, fetch })(model)
}

/** Name under which the options of an OpenAI-compatible server are given. */
export const CHAT_PROVIDER = 'chat'

function isGiven(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}
