import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AdapterSettings,
  type AgentAdapter,
  aiSdkAdapter,
  connectMcpServer,
  deepSeekAdapter,
  fakeAdapter,
  type McpHost,
  type McpServerPlace,
  piMonoAdapter,
  serveMcpOverHttp,
  serveMcpOverStdio,
  type TurnResult
} from '../../src/agent/index.js'
import { exactNumbers, isJsonObject, type Json } from '../../src/core/index.js'
import { startChatServer } from '../../src/testing/index.js'
import { cases } from '../support/effort.js'
import { saidNumber, saysExactly } from '../support/said-numbers.js'

/**
 * A7: a number arrives with the digits that were written, whichever way it comes: as a JSON number
 * where one holds it, as decimal text elsewhere.
 */

const key = 'sk-0123456789abcdef'
const model = 'm'
const piProgram = fileURLToPath(new URL('../conformance/fixtures/pi-rpc.mjs', import.meta.url))
const mcpProgram = fileURLToPath(new URL('./exact-numbers/mcp-server.mjs', import.meta.url))

/** What a road gives for JSON text that is sent along it. */
type Road = (text: string) => Promise<Json | undefined>

async function turnOf(
  adapter: AgentAdapter,
  settings: AdapterSettings,
  kind: 'tool' | 'output'
): Promise<TurnResult> {
  const session = await adapter.open({ runId: 'r', agentId: 'a', flowName: 'f', settings })
  const asked = { runId: 'r', nodeId: 'n', agentId: 'a', invocationId: 'i' } as const
  const schema = { type: 'object' }
  const tools = [{ name: 'look_up', description: '', parameters: schema }]
  const wanted =
    kind === 'tool' ? { tools } : { expectedOutput: { schemaRef: 'custom', schema } as const }
  const request = { ...asked, turnMode: 'normal', prompt: 'p', input: {}, messages: [] } as const
  const { signal } = new AbortController()
  try {
    return await session.turn({ ...request, ...wanted }, { signal, invocationId: 'i' })
  } finally {
    await session.dispose()
  }
}

function answerOf({ toolCalls, structuredOutput }: TurnResult): Json | undefined {
  return toolCalls[0]?.arguments ?? structuredOutput
}

function chatRoad(
  kind: 'tool' | 'output',
  make: (url: string) => { readonly adapter: AgentAdapter; readonly transport?: string }
): Road {
  return async (text) => {
    await using server = await startChatServer({
      script: () =>
        kind === 'tool'
          ? { toolCalls: [{ id: 'c', name: 'look_up', arguments: text }], chunkLength: 7 }
          : { text: `Here:\n\`\`\`json\n${text}\n\`\`\``, chunkLength: 7 }
    })
    const { adapter, transport } = make(server.url)
    const chosen = transport === undefined ? {} : { transport }
    const settings = { baseUrl: server.url, apiKey: key, model, ...chosen }
    return answerOf(await turnOf(adapter, settings, kind))
  }
}

const aiSdk = (baseURL: string) => {
  const provider = createOpenAICompatible({ name: 'mine', baseURL, apiKey: key })
  return { adapter: aiSdkAdapter({ model: (name) => provider(name) }) }
}

const chats = {
  deepseek: () => ({ adapter: deepSeekAdapter() }),
  'openai-compatible': () => ({ adapter: deepSeekAdapter(), transport: 'openai-compatible' }),
  'pi-mono over chat completions': () => ({ adapter: piMonoAdapter(), transport: 'deepseek' }),
  'ai-sdk': aiSdk
}

function piHttpRoad(member: (text: string) => string): Road {
  return async (text) => {
    const fetch = async (input: unknown) => {
      const isTurn = String(input).endsWith('/turns')
      return new Response(isTurn ? `{${member(text)}}` : '{"sessionId":"s"}')
    }
    const adapter = piMonoAdapter({ fetch: fetch as typeof globalThis.fetch })
    return answerOf(await turnOf(adapter, { baseUrl: 'http://pi.test' }, 'output'))
  }
}

const piRpcRoad: Road = async (text) => {
  const rpc = {
    command: process.execPath,
    arguments: [piProgram],
    environment: { SCENE: JSON.stringify({ text }) }
  }
  return answerOf(await turnOf(piMonoAdapter({ rpc }), { transport: 'rpc' }, 'output'))
}

const fakeRoad: Road = async (text) =>
  answerOf(await turnOf(fakeAdapter({ script: () => ({ text }) }), {}, 'output'))

async function calledOver(place: McpServerPlace, given: Json, name = 'say'): Promise<Json> {
  const server = await connectMcpServer({ name: 'raw', place })
  try {
    const tool = server.tools.find((one) => one.name === name)
    const provider = server.providers.find((one) => one.name === tool?.capability)
    const request = { tool: name, schemaHash: tool?.schemaHash ?? '', arguments: given }
    const { signal } = new AbortController()
    return (await provider?.perform({ key: 'k', request, signal })) ?? null
  } finally {
    await server.close()
  }
}

function structuredOf(answer: Json): Json | undefined {
  return isJsonObject(answer) ? answer['structuredContent'] : undefined
}

const mcpStdioRoad: Road = async (text) => {
  const environment = { ANSWER: text }
  const place = { command: process.execPath, arguments: [mcpProgram], environment }
  return structuredOf(await calledOver(place, {}))
}

function mcpHttpRoad(isStream: boolean): Road {
  return async (text) => {
    const server = createServer(async (request, response) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of request) chunks.push(chunk as Uint8Array)
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as {
        readonly id?: number
        readonly method: string
      }
      if (id === undefined) return void response.writeHead(202).end()
      const serverInfo = { name: 'raw', version: '1' }
      const result =
        method === 'initialize'
          ? JSON.stringify({ protocolVersion: '2025-06-18', capabilities: {}, serverInfo })
          : method === 'tools/list'
            ? '{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}'
            : `{"content":[],"structuredContent":${text}}`
      const message = `{"jsonrpc":"2.0","id":${id},"result":${result}}`
      const type = isStream ? 'text/event-stream' : 'application/json'
      response.writeHead(200, { 'content-type': type })
      response.end(isStream ? `event: message\ndata: ${message}\n\n` : message)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      return structuredOf(await calledOver({ url: `http://127.0.0.1:${port}/mcp` }, {}))
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** A host of our own server that keeps what it was asked to run with. */
function askedHost(): { readonly host: McpHost; readonly inputs: () => Json | undefined } {
  let seen: Json | undefined
  const host: McpHost = {
    status: async () => ({ identity: 'ab'.repeat(32) }),
    published: async () => [],
    run: async ({ inputs = null }) => {
      seen = inputs
      return { id: 'r' }
    },
    showRun: async () => ({}),
    runs: async () => [],
    receipt: async () => ({}),
    receipts: async () => [],
    verify: async () => ({})
  }
  return { host, inputs: () => seen }
}

const callText = (text: string) =>
  '{"jsonrpc":"2.0","id":1,"method":"tools/call",' +
  `"params":{"name":"run","arguments":{"published":"p","inputs":${text}}}}`

const servedOverStdio: Road = async (text) => {
  const { host, inputs } = askedHost()
  const [input, output] = [new PassThrough(), new PassThrough()]
  const service = await serveMcpOverStdio(host, { input, output })
  const answered = new Promise((resolve) => output.once('data', resolve))
  input.write(`${callText(text)}\n`)
  await answered
  input.end()
  await service.ended
  return inputs()
}

const servedOverHttp: Road = async (text) => {
  const { host, inputs } = askedHost()
  const service = await serveMcpOverHttp(host, { port: 0, token: 't' })
  const headers = {
    authorization: 'Bearer t',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream'
  }
  await (await fetch(service.url, { method: 'POST', headers, body: callText(text) })).text()
  await service.close()
  return inputs()
}

const roads: Readonly<Record<string, Road>> = {
  'structured output, fake': fakeRoad,
  ...Object.fromEntries(
    Object.entries(chats).flatMap(([name, make]) => [
      [`tool arguments, ${name}`, chatRoad('tool', make)],
      [`structured output, ${name}`, chatRoad('output', make)]
    ])
  ),
  'tool arguments, pi-mono over HTTP': piHttpRoad(
    (text) => `"toolCalls":[{"id":"c","name":"look_up","arguments":${text}}]`
  ),
  'structured output, pi-mono over HTTP': piHttpRoad((text) => `"structuredOutput":${text}`),
  'text output, pi-mono over HTTP': piHttpRoad((text) => `"finalText":${JSON.stringify(text)}`),
  'structured output, pi-mono over RPC': piRpcRoad,
  'answers of an MCP server over stdio': mcpStdioRoad,
  'answers of an MCP server over HTTP': mcpHttpRoad(false),
  'answers of an MCP server over an event stream': mcpHttpRoad(true),
  'requests of an MCP client over stdio': servedOverStdio,
  'requests of an MCP client over HTTP': servedOverHttp
}

describe('A7: numbers are read with the digits that were written', () => {
  for (const [name, road] of Object.entries(roads)) {
    it(`on the road: ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(saidNumber, { minLength: 30, maxLength: 60 }),
          async (numbers) => {
            const value = await road(`{"numbers": [${numbers.join(', ')}]}`)
            const list = isJsonObject(value) ? value['numbers'] : undefined
            const got: readonly Json[] = Array.isArray(list) ? list : []
            expect(got).toHaveLength(numbers.length)
            const wrong = numbers.filter((text, at) => !saysExactly(got[at], text))
            expect(wrong).toEqual([])
          }
        ),
        { numRuns: cases({ usual: 2, long: 8, soak: 40 }) }
      )
    })
  }
})

describe('A7: text with numbers', () => {
  it('keeps its strings, whatever digits and signs are in them', () => {
    const signs = fc.constantFrom('"', '\\', '{', '}', ':', ' ', '1000000000000000001', '1e99')
    const strings = fc.array(fc.array(signs).map((list) => list.join('')))
    fc.assert(
      fc.property(strings, saidNumber, (list, number) => {
        const text = JSON.stringify(list)
        expect(exactNumbers(text)).toBe(text)
        const more = JSON.parse(exactNumbers(`[${text}, ${number}]`)) as readonly Json[]
        expect(more[0]).toEqual(list)
        expect(saysExactly(more[1], number)).toBe(true)
      }),
      { numRuns: cases({ usual: 100, long: 1100 }) }
    )
  })

  it.each([
    '{1000000000000000001: 1}',
    '01000000000000000001',
    '1000000000000000001.',
    '+1000000000000000001',
    '1e',
    '"1000000000000000001',
    '-'
  ])('stays as it is where it is no JSON: %s', (text) => {
    expect(exactNumbers(text)).toBe(text)
  })
})
