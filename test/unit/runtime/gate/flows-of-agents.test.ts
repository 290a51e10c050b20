import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AdapterRegistry, type AgentTool, fakeAdapter } from '../../../../src/agent/index.js'
import { isTallyError, type Json, type JsonObject } from '../../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../../../src/runtime/index.js'
import { agentOf, flowOf, nodeOf } from '../../../support/flows.js'

/**
 * K14, K15: a flow that another than the owner has written leaves out no question before a tool
 * that destroys, though its author may use the tool. This host bounds nothing by itself.
 */

let done: string[]
let tally: WiredRuntime
beforeEach(async () => {
  done = []
  const tool = (name: string, isDestructive: boolean): AgentTool => ({
    name,
    description: 'Acts.',
    parameters: { type: 'object' },
    sideEffects: 'non_idempotent',
    isDestructive,
    perform: () => {
      done.push(name)
      return 'done'
    }
  })
  const adapters = new AdapterRegistry().registerAdapter('fake', () =>
    fakeAdapter({
      script: ({ messages, tools = [] }) =>
        messages.length > 0
          ? { text: 'done' }
          : { text: '', toolCalls: [{ id: 'c', name: tools[0]?.name ?? 'none', arguments: {} }] }
    })
  )
  const tools = [tool('remove', true), tool('add', false)]
  const agents = { adapters, tools, environment: {} }
  tally = await createRuntime({ location: MEMORY_LOCATION, create: 'if-absent', agents })
  const capabilities = ['agent.turn', 'agent.adapter.fake', 'agent.tool.remove', 'agent.tool.add']
  await change('grant', capabilities)
})
afterEach(() => tally.close())

async function change(action: 'grant' | 'revoke', capabilities: readonly string[]): Promise<void> {
  const principal = { kind: 'agent', id: 'worker' }
  const payload = { principal, subject: 'agent.turn', capabilities: [...capabilities] }
  expect(await tally.intent({ action: `system.${action}`, payload })).toMatchObject({
    type: 'dapp'
  })
}

function flow(tool: string, approvalRequirement: string): JsonObject {
  const toolPolicy = { allowedCapabilities: [tool], approvalRequirement }
  const nodes = [
    nodeOf('ask', 'agent.main', { agentId: 'main' }),
    nodeOf('finish', 'control.finish')
  ]
  return flowOf({ agents: [agentOf('main', { toolPolicy })], nodes, edges: ['ask -> finish'] })
}

const { signal } = new AbortController()

async function went(what: JsonObject, agent?: string): Promise<JsonObject> {
  const by = agent === undefined ? {} : { agent }
  const asked = 'published' in what ? what : { document: JSON.stringify(what) }
  const params = { ...asked, ...by, id: agent ?? 'owner' }
  try {
    let last: Json = null
    const events = tally.service({ method: 'run', params, signal }) as AsyncIterable<Json>
    for await (const event of events) last = event
    return last as JsonObject
  } catch (error) {
    if (isTallyError(error)) return { code: error.code }
    throw error
  }
}

describe('a flow of an agent', () => {
  it('K15: is refused where it leaves out the question before what destroys', async () => {
    const refused = await went(flow('remove', 'never'), 'worker')
    expect(refused).toMatchObject({ type: 'run.finished', status: 'failed' })
    expect(refused['response']).toMatchObject({ reason: 'invalid_graph' })
    expect(JSON.stringify(refused)).toContain('approval_below_floor')
    expect([done, tally.run('worker')]).toEqual([[], undefined])
  })

  it.each([
    ['remove', 'destructive_only', 'run.parked'],
    ['remove', 'always', 'run.parked'],
    ['add', 'never', 'run.finished'],
    ['add', 'always', 'run.parked']
  ])('K15: may use %s with %s', async (tool, approvalRequirement, type) => {
    expect(await went(flow(tool, approvalRequirement), 'worker')).toMatchObject({ type })
    expect(done).toEqual(type === 'run.parked' ? [] : [tool])
  })

  it('K15: is the owner’s where the owner has published it', async () => {
    const payload = { document: flow('remove', 'never'), name: 'removes' }
    expect(await tally.intent({ action: 'system.publish', payload })).toMatchObject({
      type: 'dapp'
    })
    const ended = await went({ published: 'removes' }, 'worker')
    expect(ended).toMatchObject({ type: 'run.finished', status: 'done' })
    expect(done).toEqual(['remove'])
  })

  it('K15: is refused where its turn is written by hand, or computed', async () => {
    const prepared = await tally.registry.documents.prepare(flow('remove', 'never'))
    if (!prepared.ok) throw new Error('the flow compiles')
    const { nodes } = prepared.definition as unknown as {
      readonly nodes: Readonly<Record<string, { readonly input?: Json }>>
    }
    const { input = null } = Object.values(nodes)[0] ?? {}
    const about = { schema: 'tally-composite/1', name: 'by-hand', version: '1', entry_point: 'one' }
    for (const given of [input, { ref: 'request.payload' }]) {
      const document = { ...about, nodes: { one: { block: 'agent.turn', input: given } } }
      const refused = await went(document, 'worker')
      expect(refused['response']).toMatchObject({ reason: 'invalid_graph' })
      expect(JSON.stringify(refused)).toMatch(/approval_below_floor|turn_not_written_out/)
    }
    expect(done).toEqual([])
  })

  it('K14: begins with a grant for the adapter that does its turns, and not without', async () => {
    await change('revoke', ['agent.adapter.fake'])
    expect(await went(flow('add', 'never'), 'worker')).toMatchObject({ code: 'run.not_permitted' })
    await change('grant', ['agent.adapter.fake'])
    expect(await went(flow('add', 'never'), 'worker')).toMatchObject({ status: 'done' })
  })

  it('K14: sends no turn by an adapter whose grant was taken back while it waited', async () => {
    expect(await went(flow('remove', 'always'), 'worker')).toMatchObject({ type: 'run.parked' })
    await change('revoke', ['agent.adapter.fake'])
    const run = await tally.attach('worker')
    const [wait] = await run.waits()
    await run.approve(wait?.token ?? '', { digest: wait?.digest ?? '' })
    for await (const { type } of run) if (/^run\.(parked|finished)$/.test(type)) break
    // The tool was granted; what the model would make of its result is not asked.
    expect(done).toEqual(['remove'])
    const asked = JSON.stringify([await run.waits(), tally.run('worker')?.last ?? null])
    expect(asked).toContain('not_permitted')
    expect(asked).toContain('agent.adapter.fake')
  })

  it('K15: of the owner leaves out what it likes', async () => {
    expect(await went(flow('remove', 'never'))).toMatchObject({ status: 'done' })
    expect(done).toEqual(['remove'])
  })
})
