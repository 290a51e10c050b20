import { describe, expect, it } from 'vitest'
import {
  connectMcpServer,
  type McpHost,
  type McpServerPlace,
  serveMcpOverHttp
} from '../../../src/agent/index.js'
import type { EffectCall } from '../../../src/block/index.js'
import { type Json, TallyError } from '../../../src/core/index.js'

/** Our server over HTTP, asked by our client. */

const host: McpHost = {
  status: async () => ({ identity: 'ab'.repeat(32), mode: 'ready' }),
  published: async () => [],
  run: async ({ id = 'new', inputs = {} }) => ({ id, status: 'done', inputs }),
  showRun: async (id) => {
    throw new TallyError('run.not_found', { runId: id })
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
