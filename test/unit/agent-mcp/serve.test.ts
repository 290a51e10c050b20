import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import {
  connectMcpServer,
  type McpHost,
  type McpServerPlace,
  serveMcpOverHttp,
  serveMcpOverStdio
} from '../../../src/agent/index.js'
import type { EffectCall } from '../../../src/code/index.js'
import { blockError, type Json, limits } from '../../../src/core/index.js'

/** Our server over HTTP, asked by our client. */

const host: McpHost = {
  status: async () => ({ identity: 'ab'.repeat(32), mode: 'ready' }),
  published: async () => [],
  run: async ({ id = 'new', inputs = {} }) => ({ id, status: 'done', inputs }),
  showRun: async (id) => {
    throw blockError('run.not_found', { runId: id })
  },
  runs: async () => [],
  receipt: async ({ index = 0 }) => ({ index }),
  receipts: async () => [],
  verify: async ({ replay }) => ({ ok: true, replay })
}

async function serving(served: McpHost, use: (url: string) => Promise<void>): Promise<void> {
  const service = await serveMcpOverHttp(served, { port: 0, token: 'secret' })
  try {
    await use(service.url)
  } finally {
    await service.close()
    await service.ended
  }
}

const at = (url: string): McpServerPlace => ({ url, headers: { authorization: 'Bearer secret' } })

/** A schema of which no code can be made. */
const outputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }

/** A server over HTTP that answers a call of its tool in this way. */
async function talking(type: string, said: string): Promise<{ readonly url: string } & Disposable> {
  const server = createServer(async (request, response) => {
    const { id, method } = JSON.parse(
      (await request.setEncoding('utf8').toArray()).join('') || '{}'
    )
    const info = { name: 'talk', version: '1' }
    const about = { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: info }
    const tools = [{ name: 'talk', inputSchema: { type: 'object' }, outputSchema }]
    const answers: Readonly<Record<string, object>> = { initialize: about, 'tools/list': { tools } }
    if (request.method !== 'POST') return response.writeHead(405).end()
    if (id === undefined) return response.writeHead(202).end()
    const result = answers[method]
    if (result === undefined) {
      response.writeHead(200, { 'content-type': type }).write(said)
      return said.endsWith(']') ? response.end() : undefined
    }
    const headers = { 'content-type': 'application/json' }
    return response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/mcp`, [Symbol.dispose]: close }
}

/** What no library is to look at in one call, and a message that is just small enough. */
const many = (count: number) => JSON.stringify(Array.from({ length: count }, () => 0))
const tooMany = many(limits.MCP_MESSAGE_VALUES_MAX)
// Of its values six are around the list.
const asked = (list: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"list":${list}}}}`

it('of schemas on the list of an MCP server no code is made', async () => {
  using server = await talking('application/json', '[]')
  const { tools, close } = await connectMcpServer({ name: 'talk', place: { url: server.url } })
  expect(tools).toMatchObject([{ name: 'talk', outputSchema }])
  await close()
})

describe('an MCP server whose message is too large', () => {
  const long = 'x'.repeat(limits.AGENT_MESSAGE_LENGTH_MAX)
  it.each([
    ['an event of one line', 'text/event-stream', `data: "${long}`],
    ['an event of many', 'text/event-stream', 'data: x\n'.repeat(long.length / 8 + 1)],
    ['one answer', 'application/json', `"${long}`],
    ['an event of many values', 'text/event-stream', `data: ${tooMany}\n\n`],
    ['an answer of many values', 'application/json', tooMany]
  ])('is refused over HTTP, as %s', async (_, type, said) => {
    using server = await talking(type, said)
    const { tools, providers, close } = await connectMcpServer({
      name: 'talk',
      place: { url: server.url }
    })
    const request = { tool: 'talk', schemaHash: tools[0]?.schemaHash ?? '', arguments: {} }
    const { signal } = new AbortController()
    const asked = Promise.resolve(providers[0]?.perform({ key: 'k', request, signal }))
    await expect(asked).rejects.toMatchObject({ reason: 'response_too_large', definite: false })
    await close()
  })
})

describe('an MCP client whose message is too large', () => {
  it.each([
    ['it does not end', `{"text":"${'x'.repeat(limits.AGENT_MESSAGE_LENGTH_MAX)}`],
    ['it has too many values', `${asked(tooMany)}\n`]
  ])('is let go: %s', async (_, said) => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const service = await serveMcpOverStdio(host, { input, output })
    input.write(said)
    await service.ended
  })

  it('is answered where it is just small enough, and lines that are no message are not', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const service = await serveMcpOverStdio(host, { input, output })
    input.write(`\nno JSON\n[1]\n${asked(many(limits.MCP_MESSAGE_VALUES_MAX - 7))}\n`)
    for await (const reply of output) {
      expect(JSON.parse(String(reply))).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
      break
    }
    input.end()
    await service.ended
  })

  it('is refused over HTTP', () =>
    serving(host, async (url) => {
      const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' }
      const { status } = await fetch(url, { method: 'POST', headers, body: asked(tooMany) })
      expect(status).toBe(413)
    }))
})

describe('an MCP server over HTTP', () => {
  it('is used as any other', () =>
    serving(host, async (url) => {
      const ledger = await connectMcpServer({ name: 'ledger', place: at(url) })
      expect(ledger.tools.map(({ name }) => name).sort()).toEqual([
        'get_receipt',
        'list_published',
        'run',
        'show_run',
        'verify'
      ])
      const call = (name: string, given: Json): Promise<Json> => {
        const tool = ledger.tools.find((one) => one.name === name)
        const provider = ledger.providers.find((one) => one.name === tool?.capability)
        const request = { tool: name, schemaHash: tool?.schemaHash ?? '', arguments: given }
        const { signal } = new AbortController()
        const asked: EffectCall = { key: 'k', request, signal }
        return Promise.resolve(provider?.perform(asked) ?? null)
      }
      expect(await call('run', { document: 'a', id: 'r1', inputs: { n: [1] } })).toMatchObject({
        structuredContent: { id: 'r1', status: 'done', inputs: { n: [1] } }
      })
      expect(await call('verify', {})).toMatchObject({ structuredContent: { replay: false } })
      await expect(call('show_run', { id: 'gone' })).rejects.toMatchObject({
        reason: 'tool_failed'
      })
      await ledger.close()
    }))

  it('shows what the host has, and nothing else', () =>
    serving(
      {
        ...host,
        submitIntent: async ({ action }) => ({ type: 'dapp', action }),
        answer: async ({ run }) => ({ accepted: true, run })
      },
      async (url) => {
        const ledger = await connectMcpServer({ name: 'ledger', place: at(url) })
        const names = ledger.tools.map(({ name }) => name)
        expect(names).toEqual(expect.arrayContaining(['submit_intent', 'answer_wait']))
        await ledger.close()
      }
    ))

  it('refuses a body over the limit', () =>
    serving(host, async (url) => {
      const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' }
      const body = ' '.repeat(5 * 1024 * 1024)
      // The server may close the connection while the rest is still being sent.
      const status = await fetch(url, { method: 'POST', headers, body }).then(
        (response) => response.status,
        () => 413
      )
      expect(status).toBe(413)
    }))

  it('does not tell of an error that it does not know', () =>
    serving(
      {
        ...host,
        verify: async () => {
          throw new Error('sk-0123 in the message')
        }
      },
      async (url) => {
        const headers = {
          authorization: 'Bearer secret',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream'
        }
        const params = { name: 'verify', arguments: {} }
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
        const text = await (await fetch(url, { method: 'POST', headers, body })).text()
        expect(text).toContain('core.internal')
        expect(text).not.toContain('sk-0123')
      }
    ))
})
