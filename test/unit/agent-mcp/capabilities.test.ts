import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  connectMcpServer,
  type McpCapabilities,
  type McpServerOptions
} from '../../../src/agent/index.js'
import { EffectFailure } from '../../../src/code/index.js'
import { hashJson, isTallyError, type Json } from '../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION, type Runtime } from '../../../src/runtime/index.js'

/** Provider kind `mcp`: a server's tools as capabilities. */

const fixture = fileURLToPath(new URL('./fixtures/tools.mjs', import.meta.url))

let folder: string
let server: McpCapabilities
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-mcp-'))
})
afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

async function connected(options: Partial<McpServerOptions> = {}): Promise<McpCapabilities> {
  server = await connectMcpServer({
    name: 'calc',
    place: {
      command: process.execPath,
      arguments: [fixture],
      environment: { CALLS_FILE: join(folder, 'calls') }
    },
    ...options
  })
  return server
}

const calls = async () => (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n')

function perform(name: string, given: Json = {}, signal = new AbortController().signal) {
  const tool = server.tools.find((one) => one.name === name)
  const provider = server.providers.find((one) => one.name === tool?.capability)
  const request: Json = { tool: name, schemaHash: tool?.schemaHash ?? '', arguments: given }
  return Promise.resolve(provider?.perform({ key: 'key-1', request, signal }))
}

async function failureOf(ending: Promise<unknown>): Promise<EffectFailure> {
  const error = await ending.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  expect(error).toBeInstanceOf(EffectFailure)
  return error as EffectFailure
}

describe('tools as capabilities', () => {
  it('names each tool, hashes its schemas, and believes no hint', async () => {
    const { tools, blocks } = await connected()
    const add = tools.find(({ name }) => name === 'Add Numbers')
    expect(add?.capability).toBe('mcp.calc.add_numbers')
    const { name, inputSchema, outputSchema } = add ?? {}
    expect(add?.schemaHash).toBe(hashJson({ name, inputSchema, outputSchema }))
    expect(add?.untrustedHints).toEqual({ readOnlyHint: true })
    const block = blocks.find((one) => one.name === add?.capability)
    expect(block?.codeHash).toBe(add?.schemaHash)
    expect(block?.capabilities).toEqual(['mcp.calc.add_numbers'])
    // The server calls it read only; only the host can say so.
    expect(block?.sideEffects).toBe('non_idempotent')
  })

  it('takes only the tools that the host names, with the class that it gives', async () => {
    const { blocks } = await connected({
      tools: ['Add Numbers'],
      sideEffects: { 'Add Numbers': 'none' }
    })
    expect(blocks.map(({ name, sideEffects }) => [name, sideEffects])).toEqual([
      ['mcp.calc.add_numbers', 'none']
    ])
  })

  it('says so when there is no server', async () => {
    await connected()
    const none = connectMcpServer({ name: 'none', place: { command: '/nowhere/server' } })
    await expect(none).rejects.toSatisfy((error) => isTallyError(error, 'agent.mcp_unreachable'))
    const refused = connectMcpServer({ name: 'none', place: { url: 'http://127.0.0.1:9/mcp' } })
    await expect(refused).rejects.toSatisfy((error) => isTallyError(error, 'agent.mcp_unreachable'))
  })
})

describe('calls', () => {
  it('gives the answer as the ledger keeps it', async () => {
    await connected()
    expect(await perform('Add Numbers', { a: 1, b: 0.5 })).toEqual({
      content: [{ type: 'text', text: '1.5' }],
      structuredContent: { sum: 1.5 }
    })
  })

  it('takes an error of the tool for a failure that may have acted', async () => {
    await connected()
    const failure = await failureOf(perform('fail'))
    expect(failure).toMatchObject({ reason: 'tool_failed', definite: false })
    expect(failure.details).toEqual({ answer: { content: [{ type: 'text', text: 'no luck' }] } })
  })

  it('A5: calls off a call at the server', async () => {
    await connected()
    const controller = new AbortController()
    const ending = failureOf(perform('hang', {}, controller.signal))
    for (;;) if ((await calls().catch((): string[] => [])).includes('hang')) break
    controller.abort()
    expect(await ending).toMatchObject({ reason: 'aborted', definite: false })
    for (;;) if ((await calls()).includes('aborted')) break
    const late = new AbortController()
    late.abort()
    expect(await failureOf(perform('fail', {}, late.signal))).toMatchObject({ definite: true })
    expect(await calls()).toEqual(['hang', 'aborted'])
  })

  it('leaves the outcome open when the server dies, and starts it again for the next', async () => {
    await connected()
    const failure = await failureOf(perform('die'))
    expect(failure).toMatchObject({ reason: 'connection_lost', definite: false })
    expect(await perform('Add Numbers', { a: 1, b: 1 })).toMatchObject({
      structuredContent: { sum: 2 }
    })
  })

  it.each([
    ['is too long', 'talk'],
    ['has too many values', 'count']
  ])('leaves the outcome open when a message %s, and starts it again', async (_, tool) => {
    await connected()
    const failure = await failureOf(perform(tool))
    expect(failure).toMatchObject({ reason: 'response_too_large', definite: false })
    expect(await perform('Add Numbers', { a: 1, b: 1 })).toMatchObject({
      structuredContent: { sum: 2 }
    })
  })

  it('refuses a tool whose schema has changed since it was connected', async () => {
    await connected()
    expect(await perform('changing')).toMatchObject({ content: [{ text: 'as before' }] })
    await perform('change')
    const failure = await failureOf(perform('changing'))
    expect(failure).toMatchObject({ reason: 'tool_changed', definite: true })
  })
})

describe('tools in runs', () => {
  async function runtime(): Promise<Runtime> {
    const { blocks, providers } = await connected()
    return createRuntime({ location: MEMORY_LOCATION, create: 'if-absent', blocks, providers })
  }

  function document(block: string): Json {
    return {
      schema: 'tally-composite/1',
      name: 'tool',
      version: '1',
      entry_point: 'tool',
      nodes: { tool: { block } }
    }
  }

  it('leave receipts that name the schemas, and replay without the server', async () => {
    const tally = await runtime()
    const run = tally.begin(document('mcp.calc.add_numbers'), { inputs: { a: 2, b: 3 } })
    const { status, response } = await run.result
    expect(status).toBe('done')
    expect(response.data).toMatchObject({ structuredContent: { sum: 5 } })
    await server.close()
    const report = await tally.replay()
    expect(report.ok).toBe(true)
    expect(await calls()).toEqual(['Add Numbers'])
    const hash = server.tools.find(({ name }) => name === 'Add Numbers')?.schemaHash
    const stored = await tally.receipt(0)
    expect(JSON.stringify(stored?.receipt)).toContain(String(hash))
    await tally.close()
  })

  it('ask what to do when it is unknown whether a tool has acted', async () => {
    const tally = await runtime()
    const run = tally.begin(document('mcp.calc.die'))
    const asked: Json[] = []
    for await (const event of run) {
      if (event.type !== 'waiting') continue
      asked.push(event.request)
      await run.resume(event.token, { digest: event.digest, action: 'abort' })
    }
    expect(JSON.stringify(asked)).toContain('unknown_outcome')
    expect(await calls()).toEqual(['die'])
    await tally.close()
  })

  it('K5: are other code with another schema: what was done before is not done again by it', async () => {
    const location = join(folder, 'ledger')
    const open = async (isLater: string) => {
      const environment = { CALLS_FILE: join(folder, 'calls'), IS_LATER: isLater }
      const place = { command: process.execPath, arguments: [fixture], environment }
      const { blocks, providers } = await connected({ place, tools: ['changing'] })
      const keys = { create: 'if-absent', insecurePlaintextKey: true } as const
      return createRuntime({ location, ...keys, blocks, providers })
    }
    const hashOf = () => server.tools[0]?.schemaHash ?? ''
    const ask = { action: 'mcp.calc.changing', payload: {} }
    const asks = { type: 'permission_request', dappId: 'mcp.calc.changing', capability: ask.action }
    const granted = async (tally: Runtime, id: string) => {
      const codeHash = hashOf()
      expect(await tally.intent({ ...ask, id })).toMatchObject({ ...asks, codeHash })
      const payload = { codeHash, capabilities: [ask.action] }
      expect(await tally.intent({ action: 'system.grant', payload })).toMatchObject({
        type: 'dapp'
      })
      expect(await tally.result(id)).toMatchObject({ type: 'dapp' })
    }
    const first = await open('no')
    await granted(first, 'one')
    const before = hashOf()
    await first.close()
    await server.close()
    const later = await open('yes')
    expect(hashOf()).not.toBe(before)
    await granted(later, 'two')
    const codes: string[] = []
    for await (const { receipt } of later.receipts()) {
      if (receipt.intent !== ask.action) continue
      codes.push(receipt.inputPayload.provider.codeHash)
    }
    expect(codes).toEqual([before, hashOf()])
    // B10: the code that did the first is not here any more, which contradicts nothing.
    const report = await later.verify({ reexecute: true })
    expect(report).toMatchObject({ ok: true, complete: false })
    expect(report.notChecked.join('\n')).toContain(ask.action)
    await later.close()
  })
})
