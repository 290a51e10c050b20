import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveMcpOverHttp } from '../../../src/agent/index.js'
import { ChildTransport } from '../../../src/agent/mcp/child-transport.js'
import { loadMcpClient } from '../../../src/agent/mcp/library.js'
import { McpLink } from '../../../src/agent/mcp/link.js'
import { EffectFailure } from '../../../src/code/index.js'
import { type Json, ManualClock, Redactor } from '../../../src/core/index.js'
import { guardedFetch } from '../../../src/intent/index.js'
import { networkCapability } from '../../../src/intent/scoped-api/network/network.js'
import type { FuzzTarget } from '../target.js'
import { mcpHost } from './exchange.js'

/** Hostile servers over real connections: the input is what they say, framing included. */

/** Longer than any answer takes: what is not over by then hangs. */
const HANGS_MS = 60_000

function listening(server: Server): Promise<number> {
  server.unref()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

let answer: Buffer = Buffer.alloc(0)
let rawPort: Promise<number> | undefined
/** A server that answers each request with the bytes of the input, and hangs up. */
function rawServer(): Promise<number> {
  rawPort ??= listening(
    createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(answer))
    })
  )
  return rawPort
}

const policy = { allowLoopback: true, hosts: ['127.0.0.1'] }

/** What a package gets, and what a transport to a server that a document names gets. */
async function askRaw(input: Buffer): Promise<unknown> {
  answer = input
  const url = `http://127.0.0.1:${await rawServer()}/`
  // Its clock stands still: what would only be ended by time is never ended.
  const clock = new ManualClock()
  const capability = networkCapability({ policy, clock, redactor: new Redactor() })
  const entry = { name: 'network.request', inputs: { hosts: ['127.0.0.1'] } }
  const outcomes: unknown[] = []
  for (const method of ['GET', 'POST']) {
    const { signal } = new AbortController()
    const call = { key: 'k', request: { url, method }, signal }
    outcomes.push(await capability.perform(call, { packageId: 'p', entry }).catch(reasonOf))
  }
  outcomes.push(await fetched(url))
  return outcomes
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof EffectFailure)) throw thrown
  return thrown.reason
}

/** The connection's own failures have a code; another error is a fault. */
async function fetched(url: string): Promise<unknown> {
  const signal = AbortSignal.timeout(HANGS_MS)
  try {
    const response = await guardedFetch({ policy })(url, { signal })
    return [response.status, await response.text()]
  } catch (thrown) {
    const { code } = thrown as { readonly code?: unknown }
    if (typeof code !== 'string') throw thrown
    return code
  }
}

/** How long the client waits for an answer that may never come. */
const PATIENCE_MS = 100

/** The parts of the SDK, with a client that waits no longer than that. */
async function impatientLibrary() {
  const library = await loadMcpClient()
  class Impatient extends library.Client {
    override request: InstanceType<typeof library.Client>['request'] = (asked, schema, options) =>
      super.request(asked, schema, { ...options, timeout: PATIENCE_MS })
  }
  return { ...library, Client: Impatient } as typeof library
}

/** A client of MCP whose server answers the input over HTTP, one line for each request. */
async function askMcp(input: Buffer): Promise<unknown> {
  const lines = input.toString('utf8').split('\n')
  let asked = 0
  const server = createServer((request, response) => {
    void answered(request, response, () => {
      asked += 1
      return lines[asked - 1] ?? ''
    })
  })
  const port = await listening(server)
  const link = new McpLink(await impatientLibrary(), { url: `http://127.0.0.1:${port}/mcp` })
  try {
    // What it throws here says only that there are no tools.
    const tools = await link.tools().catch(() => [])
    const { signal } = new AbortController()
    const called = await link.call({ name: 'act', arguments: {}, key: 'k' }, signal).catch(reasonOf)
    return { tools: tools.length, called }
  } finally {
    await link.close().catch(() => undefined)
    server.closeAllConnections()
    server.close()
  }
}

async function answered(
  request: IncomingMessage,
  response: ServerResponse,
  next: () => string
): Promise<void> {
  const id = await idOf(request)
  if (request.method !== 'POST') return void response.writeHead(405).end()
  if (id === undefined) return void response.writeHead(202).end()
  const line = next().replaceAll('"@id"', JSON.stringify(id))
  const isEvent = /^(data|event|id|retry|:)/.test(line)
  const type = isEvent ? 'text/event-stream' : 'application/json'
  response.writeHead(200, { 'content-type': type })
  response.end(isEvent ? `${line.replaceAll('\\n', '\n')}\n\n` : line)
}

async function idOf(request: IncomingMessage): Promise<Json | undefined> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text === '' ? undefined : JSON.parse(text).id
}

/** What a client hears from a server on the streams of a process, whatever it writes. */
async function hearChild(input: Buffer): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-fuzz-'))
  try {
    const file = join(folder, 'said')
    writeFileSync(file, input)
    const heard: unknown[] = []
    const program = { command: 'cat', arguments: [file] }
    const transport = new ChildTransport(await loadMcpClient(), program, () => {
      heard.push('too long')
    })
    transport.onmessage = (message) => void heard.push(message)
    const ended = new Promise<void>((resolve) => {
      transport.onclose = resolve
    })
    await transport.start()
    await ended
    return heard
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const TOKEN = 'token'
let served: Promise<string> | undefined

/** What our MCP server answers to a client that posts the input. */
async function postMcp(input: Buffer): Promise<unknown> {
  served ??= serveMcpOverHttp(mcpHost, { port: 0, token: TOKEN }).then(({ url }) => url)
  const response = await fetch(await served, {
    method: 'POST',
    signal: AbortSignal.timeout(HANGS_MS),
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream'
    },
    body: new Uint8Array(input)
  })
  return [response.status, await response.text()]
}

export const serverTargets: Readonly<Record<string, FuzzTarget>> = {
  'http-answers': { readers: [], isSlow: true, read: askRaw },
  'mcp-answers': { readers: [], isSlow: true, read: askMcp },
  'mcp-child': { readers: [], isSlow: true, read: hearChild },
  'mcp-posts': { readers: [], isSlow: true, read: postMcp }
}
