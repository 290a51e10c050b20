import { agentError } from '../../core/index.js'

export type AiLibrary = typeof import('ai')

/** Loads the AI SDK. Throws `agent.missing_library`. */
export function loadAi(): Promise<AiLibrary> {
  return loaded('ai', () => import('ai'))
}

export function loadDeepSeek(): Promise<typeof import('@ai-sdk/deepseek')> {
  return loaded('@ai-sdk/deepseek', () => import('@ai-sdk/deepseek'))
}

export function loadOpenAiCompatible(): Promise<typeof import('@ai-sdk/openai-compatible')> {
  return loaded('@ai-sdk/openai-compatible', () => import('@ai-sdk/openai-compatible'))
}

async function loaded<Library>(name: string, load: () => Promise<Library>): Promise<Library> {
  try {
    return await load()
  } catch (cause) {
    throw agentError('agent.missing_library', { library: name }, { cause })
  }
}
