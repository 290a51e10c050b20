import type { Fetch } from '../transports/bounded-fetch.js'
import { chatProblems, modelProblems } from '../transports/chat-model.js'
import type { AdapterSettings, AgentAdapter, SessionOptions } from './adapter.js'
import { openChatSession } from './chat-session.js'

/** Options of an adapter that speaks the chat completions protocol over HTTP. */
export interface ChatAdapterOptions {
  /** Wins over the environment, not over a flow's or an agent's `adapterConfig` (A3). */
  readonly defaults?: AdapterSettings
  readonly fetch?: Fetch
}

/**
 * Chat completions of DeepSeek, or with `transport: "openai-compatible"` of any server that speaks
 * them. Needs `baseUrl`, `apiKey` and `model`: no hosted service is asked by default.
 */
export function deepSeekAdapter(options: ChatAdapterOptions = {}): AgentAdapter {
  const { defaults, fetch } = options
  return {
    kind: 'deepseek',
    ...(defaults === undefined ? {} : { defaults }),
    validate: (settings) => [
      ...chatProblems(settings),
      ...modelProblems(settings),
      ...transportProblems(settings)
    ],
    open: (session) =>
      openChatSession(session, {
        transport:
          session.settings.transport === 'openai-compatible' ? 'openai-compatible' : 'deepseek',
        fetch: fetchOf(session, fetch)
      })
  }
}

/** The host's own `fetch`, else the one that the session is bound to. */
export function fetchOf(session: SessionOptions, fetch: Fetch | undefined): Fetch {
  return fetch ?? session.fetch ?? globalThis.fetch
}

function transportProblems({ transport }: AdapterSettings): readonly string[] {
  const known = [undefined, 'deepseek', 'openai-compatible']
  return known.includes(transport) ? [] : ['transport is neither deepseek nor openai-compatible']
}
