import { type JsonObject, limits } from '../../core/index.js'
import { loadAi } from '../transports/ai-library.js'
import { type Fetch, type Wire, wireOf } from '../transports/bounded-fetch.js'
import {
  CHAT_PROVIDER,
  type ChatModels,
  type ChatTransport,
  chatModels
} from '../transports/chat-model.js'
import { chatTurn } from '../transports/chat-turn.js'
import { baseUrlOf, endpointOf } from '../transports/endpoint.js'
import { turnFailure } from '../transports/failures.js'
import type { AgentSession, SessionOptions, TurnRequest } from './adapter.js'

/**
 * A session over chat completions. The other side remembers nothing, so neither does this: a turn
 * carries all it needs, and a run that was resumed elsewhere asks the same.
 */
export async function openChatSession(
  session: SessionOptions,
  options: { readonly transport: ChatTransport; readonly fetch: Fetch }
): Promise<AgentSession> {
  const { settings, systemPrompt } = session
  const { transport, fetch } = options
  const models = await chatModels(transport, settings)
  const ai = await loadAi()
  const endpoint = endpointOf(baseUrlOf(settings.baseUrl))
  const name = transport === 'deepseek' ? 'deepseek' : CHAT_PROVIDER
  const modelNamed = modelsKept(models)
  return {
    turn: (request, turnOptions) => {
      const wire = wireOf(fetch, bounds)
      const model = modelNamed(modelOf(request, session), wire)
      const common = turnSettings(request, session)
      const providerOptions = optionsNamed(name, settings.options)
      const system = systemPrompt === undefined ? {} : { systemPrompt }
      return chatTurn(
        ai,
        { model, request, endpoint, wire, ...common, ...system, ...providerOptions },
        turnOptions
      )
    },
    dispose: async () => undefined
  }
}

const bounds = {
  bytesMax: limits.TURN_RESPONSE_BYTES_MAX,
  eventBytesMax: limits.MODEL_EVENT_BYTES_MAX,
  eventValuesMax: limits.MODEL_EVENT_VALUES_MAX
}

/**
 * Models by name, each made once: making one costs more than a turn does. Turns of a session come
 * one after the other, so the latest wire is that of the turn under way.
 */
function modelsKept(models: ChatModels): (name: string, wire: Wire) => ReturnType<ChatModels> {
  const kept = new Map<string, ReturnType<ChatModels>>()
  let current: Wire | undefined
  const fetch: Fetch = (input, init) => {
    if (current === undefined) throw turnFailure('not_sent')
    return current.fetch(input, init)
  }
  return (name, wire) => {
    current = wire
    const known = kept.get(name) ?? models({ model: name, fetch })
    if (kept.size >= limits.CACHE_ENTRIES_MAX) kept.clear()
    kept.set(name, known)
    return known
  }
}

/** The model that a turn names, or else the session. Throws `invalid_settings`. */
export function modelOf(request: TurnRequest, { settings }: SessionOptions): string {
  const model = request.model ?? settings.model
  if (model !== undefined && model !== '') return model
  throw turnFailure('invalid_settings', { problems: ['model is missing'] })
}

/** Temperature and token limit: the turn's own before the session's. */
export function turnSettings(
  request: TurnRequest,
  { settings }: SessionOptions
): { readonly temperature?: number; readonly maxTokens?: number } {
  const temperature = request.temperature ?? settings.temperature
  const maxTokens = request.maxTokens ?? settings.maxTokens
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens })
  }
}

function optionsNamed(
  name: string,
  options: JsonObject | undefined
): { readonly providerOptions?: Readonly<Record<string, JsonObject>> } {
  return options === undefined ? {} : { providerOptions: { [name]: options } }
}
