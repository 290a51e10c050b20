import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'vitest'
import { connectMcpServer } from '../../src/agent/index.js'
import { type ProviderUnderTest, providerConformance } from '../../src/testing/index.js'
import { fakeWithNonces, fakeWithoutNonces } from '../support/fake-executor-under-test.js'
import { broadcasting, openFakeService } from '../support/providers-under-test.js'

const tools = fileURLToPath(new URL('../unit/agent-mcp/fixtures/tools.mjs', import.meta.url))

/** A tool of an MCP server in a process of its own, which notes each call. */
async function openMcpTool(): Promise<ProviderUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'tally-provider-'))
  const calls = join(folder, 'calls')
  const servers: Awaited<ReturnType<typeof connectMcpServer>>[] = []
  const connected = async () => {
    const place = {
      command: process.execPath,
      arguments: [tools],
      environment: { CALLS_FILE: calls }
    }
    const server = await connectMcpServer({ name: 'calc', place, tools: ['Add Numbers'] })
    servers.push(server)
    return server
  }
  const { tools: listed, providers } = await connected()
  const [tool] = listed
  const [provider] = providers
  if (tool === undefined || provider === undefined) throw new Error('the server has no tool')
  const request = (given: { readonly a: number; readonly b?: number }) => ({
    tool: tool.name,
    schemaHash: tool.schemaHash,
    arguments: given
  })
  return {
    provider,
    restart: async () => (await connected()).providers[0] ?? provider,
    sideEffects: 'non_idempotent',
    request: (number) => request({ a: number, b: 1 }),
    refused: () => ({ ...request({ a: 1, b: 1 }), schemaHash: 'another' }),
    effects: async () => (await readFile(calls, 'utf8').catch(() => '')).split('\n').length - 1,
    close: async () => {
      for (const server of servers) await server.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

const drivers: readonly (readonly [name: string, open: () => Promise<ProviderUnderTest>])[] = [
  ['fake service', async () => openFakeService()],
  ['fake chain with nonces', broadcasting(fakeWithNonces)],
  ['fake chain without nonces', broadcasting(fakeWithoutNonces)],
  ['tool of an MCP server', openMcpTool]
]

for (const [name, open] of drivers) {
  describe(`provider conformance: ${name}`, () => {
    for (const check of providerConformance) it(check.name, () => check.run(open))
  })
}
