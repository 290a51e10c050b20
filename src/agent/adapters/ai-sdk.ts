import type { Redactor } from '../../core/index.js'
import { loadAi } from '../transports/ai-library.js'
import { modelProblems } from '../transports/chat-model.js'
import { type ChatLanguageModel, chatTurn } from '../transports/chat-turn.js'
import { turnFailure } from '../transports/failures.js'
import type { AdapterSettings, AgentAdapter, SessionOptions } from './adapter.js'
import { modelOf, turnSettings } from './chat-session.js'

/** How models of the AI SDK are reached. */
export interface AiSdkAdapterOptions {
  /** Kind under which documents name it. Default `ai-sdk`. */
  readonly kind?: string
  readonly defaults?: AdapterSettings
  /**
   * A model of the AI SDK by its id, of any provider that the host brings:
   * `(model) => createAnthropic({ apiKey })(model)`.
   */
  readonly model: (model: string, session: SessionOptions) => AiSdkModel
  /** Knows the keys that the model was made with. */
  readonly redactor?: Redactor
}

/** A language model object of the AI SDK 5 or 6. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
}

/** Turns through a model that the host brings. Its keys and its base URL are the host's affair. */
export function aiSdkAdapter(options: AiSdkAdapterOptions): AgentAdapter {
  const { kind = 'ai-sdk', defaults, model: modelNamed, redactor } = options
  return {
    kind,
    ...(defaults === undefined ? {} : { defaults }),
    ...(redactor === undefined ? {} : { redactor }),
    validate: modelProblems,
    open: async (session) => {
      const ai = await loadAi()
      return {
        turn: async (request, turnOptions) => {
          const model = made(() => modelNamed(modelOf(request, session), session))
          const system =
            session.systemPrompt === undefined ? {} : { systemPrompt: session.systemPrompt }
          const turn = { request, endpoint: model.provider, ...turnSettings(request, session) }
          // What the SDK calls a model is a union of classes; it checks the version itself.
          return chatTurn(
            ai,
            { model: model as ChatLanguageModel, ...turn, ...system },
            turnOptions
          )
        },
        dispose: async () => undefined
      }
    }
  }
}

// What a provider says when it cannot be made may quote its key.
function made(make: () => AiSdkModel): AiSdkModel {
  try {
    return make()
  } catch (error) {
    if (error instanceof Error && error.name === 'EffectFailure') throw error
    throw turnFailure('invalid_settings', { problems: ['the model could not be made'] })
  }
}
