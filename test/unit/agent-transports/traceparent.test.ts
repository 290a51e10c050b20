import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AgentSession, deepSeekAdapter, piMonoAdapter } from '../../../src/agent/index.js'

/** What adapters send to their servers of the trace that a turn is part of. */

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const names = { runId: 'run-1', agentId: 'clerk', flowName: 'flow' }

let server: Server
let seen: { readonly path: string; readonly traceparent: unknown }[]

beforeEach(async () => {
  seen = []
  server = createServer(({ url = '', headers }, response) => {
    seen.push({ path: url, traceparent: headers['traceparent'] })
    const isSession = url.endsWith('/sessions')
    response.writeHead(isSession ? 200 : 400, { 'content-type': 'application/json' })
    response.end(isSession ? '{"sessionId":"s"}' : '{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return () => {
    server.closeAllConnections()
    server.close()
  }
})
afterEach(() => expect(seen.length).toBeGreaterThan(0))

async function turn(session: AgentSession, options: { readonly traceparent?: string }) {
  const invocationId = 'turn-1'
  const about = { ...names, invocationId, nodeId: 'main', turnMode: 'normal' as const }
  const request = { ...about, prompt: 'hello', input: {}, messages: [] }
  const { signal } = new AbortController()
  await session.turn(request, { signal, invocationId, ...options }).catch(() => undefined)
}

const baseUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
const adapters = [
  ['chat completions', deepSeekAdapter({}), { apiKey: 'sk-0123456789abcdef' }],
  ['pi-mono', piMonoAdapter(), { transport: 'http' }]
] as const

it.for(adapters)(
  'names the span of a turn, and nothing without one: %s',
  async ([, adapter, of]) => {
    const settings = { ...of, baseUrl: baseUrl(), model: 'm' }
    const session = await adapter.open({ ...names, settings })
    await turn(session, { traceparent })
    expect(seen.at(-1)?.traceparent).toBe(traceparent)
    seen.length = 0
    await turn(session, {})
    expect(seen.every((one) => one.traceparent === undefined)).toBe(true)
  }
)
