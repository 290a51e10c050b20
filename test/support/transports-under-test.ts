import { request as httpRequest } from 'node:http'
import { type AgentSession, deepSeekAdapter, piMonoAdapter } from '../../src/agent/index.js'
import { loadMcpClient } from '../../src/agent/mcp/library.js'
import { McpLink } from '../../src/agent/mcp/link.js'
import { EffectFailure } from '../../src/code/index.js'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  ManualClock,
  Redactor
} from '../../src/core/index.js'
import { evmDialect } from '../../src/executor/evm/dialect.js'
import { Rpc } from '../../src/executor/rpc/rpc.js'
import { RpcError } from '../../src/executor/rpc/rpc-error.js'
import { httpTransport } from '../../src/executor/rpc/transport.js'
import { networkCapability } from '../../src/intent/scoped-api/network/network.js'
import {
  type Exchanged,
  httpProtocol,
  type Transport,
  type TransportDriver
} from '../../src/testing/index.js'

const addressOf = (port: number) => `http://127.0.0.1:${port}/`

function member(value: Json | undefined, name: string | number): Json | undefined {
  if (Array.isArray(value)) return value[Number(name)]
  return isJsonObject(value ?? null) ? (value as { [name: string]: Json })[name] : undefined
}

function parsed(body: string): Json {
  return JSON.parse(body) as Json
}

function objectIn(body: string): JsonObject {
  const value = body === '' ? {} : parsed(body)
  return isJsonObject(value) ? value : {}
}

/** What a failure of an effect says of the other side. */
function failed(error: unknown): Exchanged {
  if (!(error instanceof EffectFailure)) throw error
  return { kind: error.definite ? 'not_begun' : 'unknown' }
}

const names = { runId: 'run-1', agentId: 'clerk', flowName: 'flow' }

/** The turns of one session of an agent. */
function turnsOf(session: AgentSession): Transport {
  let turns = 0
  return {
    async exchange(prompt, { signal }) {
      turns += 1
      const invocationId = `turn-${turns}`
      const about = { ...names, invocationId, nodeId: 'main', turnMode: 'normal' as const }
      const request = { ...about, prompt, input: {}, messages: [] }
      try {
        const { status, finalText } = await session.turn(request, { signal, invocationId })
        return status === 'completed' ? { kind: 'answered', text: finalText } : { kind: 'unknown' }
      } catch (error) {
        return failed(error)
      }
    },
    // Of a server that has gone, no session is left to end.
    close: () => session.dispose().catch(() => undefined)
  }
}

/** The turns of an agent, over chat completions. */
export function chatDriver(): TransportDriver {
  return {
    open: async (port) => {
      const settings = { baseUrl: addressOf(port), apiKey: 'sk-0123456789abcdef', model: 'm' }
      return turnsOf(await deepSeekAdapter({}).open({ ...names, settings }))
    },
    protocol: httpProtocol({
      contentType: 'text/event-stream',
      textIn: (body) => {
        const messages = member(parsed(body), 'messages')
        const last = Array.isArray(messages) ? messages.at(-1) : undefined
        const content = member(last, 'content')
        return String(Array.isArray(content) ? member(content[0], 'text') : content)
      },
      answer: (_body, text) => {
        const about = { id: 'chat-1', object: 'chat.completion.chunk', created: 0, model: 'm' }
        const event = (choice: Json) =>
          `data: ${JSON.stringify({ ...about, choices: [choice] })}\n\n`
        const said = { index: 0, delta: { content: text }, finish_reason: null }
        const end = { index: 0, delta: {}, finish_reason: 'stop' }
        return `${event(said)}${event(end)}data: [DONE]\n\n`
      }
    })
  }
}

/** The turns of an agent, over the HTTP of pi-mono backends. */
export function piMonoDriver(): TransportDriver {
  return {
    open: async (port) => {
      const settings = { baseUrl: addressOf(port), transport: 'http', model: 'm' }
      return turnsOf(await piMonoAdapter().open({ ...names, settings }))
    },
    protocol: httpProtocol({
      // Sessions are opened and ended, and turns aborted, beside the turns themselves.
      greeting: (body) => {
        const isTurn = body !== '' && member(parsed(body), 'invocationId') !== undefined
        return isTurn ? undefined : JSON.stringify({ sessionId: 'session-1' })
      },
      textIn: (body) => String(member(parsed(body), 'prompt')),
      answer: (_body, text) => JSON.stringify({ status: 'completed', finalText: text })
    })
  }
}

/** Calls of a tool of an MCP server, over streamable HTTP. */
export function mcpDriver(): TransportDriver {
  return {
    open: async (port) => {
      const link = new McpLink(await loadMcpClient(), { url: addressOf(port) })
      let calls = 0
      return {
        async exchange(text, { signal }) {
          calls += 1
          const call = { name: 'echo', arguments: { text }, key: `call-${calls}` }
          try {
            const answer = await link.call(call, signal)
            return {
              kind: 'answered',
              text: String(member(member(member(answer, 'content'), 0), 'text'))
            }
          } catch (error) {
            return failed(error)
          }
        },
        close: () => link.close()
      }
    },
    protocol: httpProtocol({
      // The session begins before the first call, and a call that is called off has a message too.
      greeting: (body) => {
        const { id, method, params } = objectIn(body)
        if (method === 'tools/call') return undefined
        if (method !== 'initialize') return ''
        const result = {
          protocolVersion: member(params, 'protocolVersion') ?? null,
          capabilities: { tools: {} },
          serverInfo: { name: 'suite', version: '1' }
        }
        return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, result })
      },
      textIn: (body) => String(member(member(objectIn(body)['params'], 'arguments'), 'text')),
      answer: (body, text) => {
        const result = { content: [{ type: 'text', text }] }
        return JSON.stringify({ jsonrpc: '2.0', id: objectIn(body)['id'] ?? null, result })
      }
    })
  }
}

/** Calls that change something, over JSON-RPC: a node names its chain before it is sent any. */
export function rpcDriver(): TransportDriver {
  return {
    open: async (port) => {
      const rpc = new Rpc({
        dialect: evmDialect(1),
        endpoints: [async () => addressOf(port)],
        transport: httpTransport,
        clock: new ManualClock(),
        timeoutMs: 1_000,
        redactor: new Redactor()
      })
      return {
        async exchange(text, { signal }) {
          try {
            return { kind: 'answered', text: String(await rpc.send('echo', [text], signal)) }
          } catch (error) {
            if (!(error instanceof RpcError)) throw error
            return { kind: error.neverSent || error.answered ? 'not_begun' : 'unknown' }
          }
        }
      }
    },
    protocol: httpProtocol({
      greeting: (body) => {
        const call = parsed(body)
        if (member(call, 'method') !== 'eth_chainId') return undefined
        return JSON.stringify({ jsonrpc: '2.0', id: member(call, 'id') ?? null, result: '0x1' })
      },
      textIn: (body) => String(member(member(parsed(body), 'params'), 0)),
      answer: (body, text) => {
        return JSON.stringify({
          jsonrpc: '2.0',
          id: member(parsed(body), 'id') ?? null,
          result: text
        })
      }
    })
  }
}

/** What a package asks of a host that it was granted. */
export function packageDriver(): TransportDriver {
  return {
    open: async (port) => {
      const policy = { allowLoopback: true }
      const clock = new ManualClock()
      const capability = networkCapability({ policy, clock, redactor: new Redactor() })
      const entry = { canonical: 'network.request', inputs: { hosts: ['127.0.0.1'] } }
      // The parts of a caller that this capability reads.
      const caller = { packageId: 'p', entry } as unknown as Parameters<
        typeof capability.perform
      >[1]
      return {
        async exchange(body, { signal }) {
          const url = addressOf(port)
          const request = { url, method: 'POST', body, okOnly: true }
          try {
            const answer = await capability.perform({ key: 'k', request, signal }, caller)
            return { kind: 'answered', text: String(member(answer, 'body')) }
          } catch (error) {
            return failed(error)
          }
        }
      }
    },
    protocol: plainProtocol
  }
}

const plainProtocol = httpProtocol({
  contentType: 'text/plain; charset=utf-8',
  textIn: (body) => body,
  answer: (_body, text) => text
})

/** How a plain client is wrong. */
export interface PlainFaults {
  readonly bytesMax?: number
  /** Parts of an answer are read one by one. */
  readonly decodesParts?: boolean
  readonly takesParts?: boolean
  readonly followsRedirects?: boolean
  /** How often a request is sent that got no answer. */
  readonly tries?: number
  readonly ignoresSignal?: boolean
  readonly sendsCalledOff?: boolean
  readonly takesAnyStatus?: boolean
  readonly ofFailure?: (isConnected: boolean) => Exchanged
}

/** A client of a plain protocol over HTTP, which is right unless it is told otherwise. */
export function plainDriver(faults: PlainFaults = {}): TransportDriver {
  return {
    open: async (port) => ({
      async exchange(text, { signal }) {
        if (signal.aborted && faults.sendsCalledOff !== true) return { kind: 'not_begun' }
        let exchanged: Exchanged = { kind: 'unknown' }
        for (let tries = 0; tries < (faults.tries ?? 1); tries += 1) {
          exchanged = await plainExchange(addressOf(port), { text, signal, faults })
          if (exchanged.kind === 'answered' || signal.aborted) break
        }
        return exchanged
      }
    }),
    protocol: plainProtocol
  }
}

function plainExchange(
  url: string,
  given: { readonly text: string; readonly signal: AbortSignal; readonly faults: PlainFaults }
): Promise<Exchanged> {
  const { text, signal, faults } = given
  const { bytesMax = 1_000_000, ofFailure = defaultFailure } = faults
  const isFree = faults.ignoresSignal === true || faults.sendsCalledOff === true
  return new Promise((resolve) => {
    let isConnected = false
    const outgoing = httpRequest(url, {
      method: 'POST',
      agent: false,
      ...(isFree ? {} : { signal })
    })
    if (faults.sendsCalledOff === true && faults.ignoresSignal !== true) {
      signal.addEventListener('abort', () => outgoing.destroy())
    }
    const fail = () => resolve(ofFailure(isConnected))
    outgoing.once('socket', (socket) => socket.once('connect', () => (isConnected = true)))
    outgoing.on('error', fail)
    outgoing.once('response', (incoming) => {
      const { statusCode, headers } = incoming
      if (faults.followsRedirects === true && headers.location !== undefined) {
        plainExchange(headers.location, given).then(resolve)
        return
      }
      const parts: Buffer[] = []
      const taken = (): Exchanged => {
        const whole = Buffer.concat(parts).toString()
        const said = faults.decodesParts === true ? parts.map(String).join('') : whole
        return { kind: 'answered', text: said }
      }
      incoming.on('data', (part: Buffer) => {
        parts.push(part)
        if (parts.reduce((sum, { byteLength }) => sum + byteLength, 0) > bytesMax) {
          outgoing.destroy()
          fail()
        }
      })
      incoming.once('error', () => {
        if (faults.takesParts === true && !signal.aborted) resolve(taken())
        else fail()
      })
      incoming.once('end', () => {
        const isGood = statusCode === 200 || faults.takesAnyStatus === true
        if (isGood) resolve(taken())
        else fail()
      })
    })
    outgoing.end(text)
  })
}

function defaultFailure(isConnected: boolean): Exchanged {
  return { kind: isConnected ? 'unknown' : 'not_begun' }
}
