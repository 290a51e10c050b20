import { unreachable } from '../../core/index.js'
import { redactorOf } from '../binding/given-secrets.js'
import { chatProblems, modelProblems } from '../transports/chat-model.js'
import { baseUrlProblem, refuseProblems } from '../transports/endpoint.js'
import { openPiMonoSession } from '../transports/pi-mono-http.js'
import type { PiCommand } from '../transports/pi-process.js'
import { openPiRpcSession } from '../transports/pi-rpc.js'
import type { AdapterSettings, AgentAdapter } from './adapter.js'
import { openChatSession } from './chat-session.js'
import { type ChatAdapterOptions, fetchOf } from './deepseek.js'

/** Options of the adapter that runs the agent program pi. */
export interface PiMonoAdapterOptions extends ChatAdapterOptions {
  /**
   * The program behind `transport: "rpc"`. Only the host can name it: a document must not choose
   * what is started on this machine.
   */
  readonly rpc?: PiCommand
  /**
   * The backend behind `transport: "http"` does tool calls itself; default: it hands them back.
   * Agents with tools then need `approvalRequirement: "never"`.
   */
  readonly backendRunsTools?: boolean
}

export type PiMonoTransport = 'deepseek' | 'openai-compatible' | 'http' | 'rpc'

/**
 * The pi-mono extension point of AgentsFlow: chat completions, a pi-mono HTTP backend, or a pi
 * process. `transport` chooses; without it, a DeepSeek base URL means chat completions and any
 * other the HTTP backend.
 */
export function piMonoAdapter(options: PiMonoAdapterOptions = {}): AgentAdapter {
  const { defaults, rpc, backendRunsTools = false } = options
  const validate = (settings: AdapterSettings) => {
    const isChat = ['deepseek', 'openai-compatible'].includes(piMonoTransport(settings) ?? '')
    return [...problemsOf(settings, rpc), ...(isChat ? modelProblems(settings) : [])]
  }
  return {
    kind: 'pi-mono',
    runsTools: (settings) => {
      const transport = piMonoTransport(settings)
      return transport === 'rpc' || (transport === 'http' && backendRunsTools)
    },
    redactor: redactorOf(rpc?.environment, 'pi'),
    ...(defaults === undefined ? {} : { defaults }),
    validate,
    keepsSessions: (settings) => piMonoTransport(settings) === 'http',
    open: async (session) => {
      refuseProblems(problemsOf(session.settings, rpc))
      const transport = piMonoTransport(session.settings) ?? 'http'
      const fetch = fetchOf(session, options.fetch)
      switch (transport) {
        case 'deepseek':
        case 'openai-compatible':
          return openChatSession(session, { transport, fetch })
        case 'http':
          return openPiMonoSession(session, { fetch, runsTools: backendRunsTools })
        case 'rpc':
          return openPiRpcSession(session, rpc ?? { command: 'pi' })
        default:
          return unreachable(transport)
      }
    }
  }
}

/** The transport that settings choose; undefined for one that there is not. */
export function piMonoTransport(settings: AdapterSettings): PiMonoTransport | undefined {
  const { transport, baseUrl = '' } = settings
  switch (transport) {
    case undefined:
      return /^https?:\/\/api\.deepseek\.com(?:[:/]|$)/i.test(baseUrl) ? 'deepseek' : 'http'
    case 'deepseek':
    case 'openai-compatible':
    case 'rpc':
      return transport
    case 'http':
    case 'pi-mono':
      return 'http'
    default:
      return undefined
  }
}

function problemsOf(settings: AdapterSettings, rpc: PiCommand | undefined): readonly string[] {
  const transport = piMonoTransport(settings)
  switch (transport) {
    case undefined:
      return ['transport is none of deepseek, openai-compatible, http, rpc']
    case 'deepseek':
    case 'openai-compatible':
      return chatProblems(settings)
    case 'rpc':
      return rpc === undefined ? ['transport rpc needs the adapter to be given its program'] : []
    case 'http': {
      const problem = baseUrlProblem(settings.baseUrl)
      return problem === undefined ? [] : [problem]
    }
    default:
      return unreachable(transport)
  }
}
