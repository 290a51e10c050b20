import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../../../src/block/index.js'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import { chainEffects } from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION, type RunHandle } from '../../../../src/runtime/index.js'
import { troublesOf } from '../../../../src/workflow/engine/diagnose.js'
import type { WorkflowHost } from '../../../../src/workflow/index.js'
import { aisText } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { asset, balance, flow, owner, transfer } from '../../../support/ais-flows.js'

/** What becomes of a run in which something fails. */

const protocols = [aisText('erc20')]
const free: WorkflowHost = {
  protocols,
  writes: 'broadcast',
  policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
}

async function start(document: JsonObject, chain: TestChain, host: WorkflowHost = {}) {
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    providers: chain.providers,
    workflow: { ...free, ...host }
  })
  return { tally, run: tally.begin(document, { id: 'one', inputs: {} }) }
}

/** The only open wait once nothing else can move; undefined: the run has ended. */
async function parked(run: RunHandle): Promise<OpenWait | undefined> {
  for await (const event of run) {
    if (event.type === 'run.finished') return undefined
    const waits = event.type === 'run.parked' ? await run.waits() : []
    if (waits.length === 1) return waits[0]
  }
  return undefined
}

const poor = () => new TestChain({ read: () => ({ balance: '1' }) })
const holds = (id: string, least: number, more: JsonObject = {}) => {
  const condition = { cel: `nodes.${id}.outputs.balance > ${least}` }
  return { until: condition, retry: { interval_ms: 1, max_attempts: 2 }, ...more }
}

/** The transfer, and behind it a read that does not hold. */
const late = (more: JsonObject = {}) => [
  transfer('pay'),
  balance('check', { deps: ['pay'], ...holds('check', 5), ...more })
]
const asFlow2 = (document: JsonObject) => ({ ...document, schema: 'ais-flow/0.0.2' })

describe('W13: a node that fails', () => {
  for (const [name, document] of [
    ['ais-flow/0.0.3', flow(late())],
    ['ais-flow/0.0.2', asFlow2(flow(late()))],
    ['a node that says ask', flow(late({ on_error: 'ask' }), { on_error: 'stop' })],
    ['a node of 0.0.2 that says ask', asFlow2(flow(late({ on_error: 'ask' })))]
  ] as const) {
    it(`leaves its run waiting, and each command that is offered works (${name})`, async () => {
      for (const action of ['retry', 'skip', 'abort'] as const) {
        const chain = poor()
        const { tally, run } = await start(document, chain)
        await using _ = tally
        const wait = await parked(run)
        const [trouble] = troublesOf({ waits: wait === undefined ? [] : [wait], response: null })
        expect(trouble).toMatchObject({
          nodeId: 'check',
          kind: 'decision',
          diagnostic: { code: 'until_exhausted' },
          actions: ['retry', 'patch', 'skip', 'abort']
        })
        const { token = '', digest = '' } = wait ?? {}
        expect(await run.resume(token, { digest, action })).toMatchObject({ accepted: true })
        if (action === 'retry') {
          expect((await parked(run))?.path).toBe('root/check')
          await run.cancel('enough')
        }
        const ends = { retry: 'cancelled', skip: 'done', abort: 'failed' }
        expect((await run.result).status).toBe(ends[action])
        expect(chain.functions).toEqual(['transfer'])
        expect(await tally.verify()).toMatchObject({ ok: true })
      }
    })
  }

  const stops: readonly [string, JsonObject, WorkflowHost][] = [
    ['the node', flow(late({ on_error: 'stop' })), {}],
    ['the workflow', flow(late(), { on_error: 'stop' }), {}],
    ['the workflow of 0.0.2', asFlow2(flow(late(), { on_error: 'stop' })), {}],
    ['the host', flow(late()), { onError: 'stop' }],
    ['the bundle', { ...bundle(flow(late())), on_error: 'stop' }, { onError: 'ask' }]
  ]
  for (const [who, document, host] of stops) {
    it(`ends its run where ${who} says stop, and then nothing is offered`, async () => {
      const { tally, run } = await start(document, poor(), host)
      await using _ = tally
      const { status, response } = await run.result
      expect(status).toBe('failed')
      expect(troublesOf({ waits: [], response })).toMatchObject([
        { nodeId: 'check', kind: 'failed', diagnostic: { actions: [] }, actions: [] }
      ])
    })
  }

  function bundle(inner: JsonObject): JsonObject {
    return { schema: 'ais-bundle/1', flow: inner as Json, protocols: [], packs: [] }
  }

  it('is asked about for as long as it takes, and has all its time again', async () => {
    const node = balance('check', {
      until: { cel: 'nodes.check.outputs.balance >= 3' },
      retry: { interval_ms: 20, max_attempts: 3_000 },
      timeout_ms: 60
    })
    let now = '1'
    const chain = new TestChain({ read: () => ({ balance: now }) })
    const { tally, run } = await start(flow([node]), chain)
    await using _ = tally
    const wait = await parked(run)
    expect(wait).toMatchObject({ reason: 'decision', due: null })
    const [trouble] = troublesOf({ waits: wait === undefined ? [] : [wait], response: null })
    expect(trouble?.request).toMatchObject({ reason: 'timed_out' })
    now = '3'
    // On a machine that is busy, one read may take all of the time: then it asks again.
    for (let asked = wait; asked !== undefined; asked = await parked(run)) {
      await run.resume(asked.token, { digest: asked.digest, action: 'retry' })
    }
    expect((await run.result).status).toBe('done')
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  const asks: readonly [string, readonly JsonObject[]][] = [
    ['until', [balance('check', holds('check', 5))]],
    ['assert', [balance('check', { assert: { cel: 'nodes.check.outputs.balance > 5' } })]],
    ['a read that decides a later one', late()]
  ]
  for (const [name, nodes] of asks) {
    it(`asks the chain anew when it is tried again (${name})`, async () => {
      let now = '1'
      const chain = new TestChain({ read: () => ({ balance: now }) })
      const { tally, run } = await start(flow([...nodes]), chain)
      await using _ = tally
      const wait = await parked(run)
      expect(wait?.path).toBe('root/check')
      now = '9'
      const { token = '', digest = '' } = wait ?? {}
      await run.resume(token, { digest, action: 'retry' })
      expect(await parked(run)).toBeUndefined()
      expect((await run.result).status).toBe('done')
      expect(chain.functions.length).toBeLessThan(2)
      expect(await tally.verify()).toMatchObject({ ok: true })
    })
  }

  it('is simulated anew when it is tried again, and then sent once', async () => {
    const chain = new TestChain()
    let isPaused = true
    const revert = { name: 'Error', reason: 'it is paused', data: null }
    const providers = chain.providers.map((provider) => ({
      ...provider,
      perform: (call: Parameters<typeof provider.perform>[0]) =>
        provider.name === chainEffects.simulate && isPaused
          ? { ok: false, revert }
          : provider.perform(call)
    }))
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers,
      workflow: free
    })
    const document = flow([transfer('pay')], { preflight: { simulate: { pay: true } } })
    const run = tally.begin(document, { id: 'one', inputs: {} })
    const wait = await parked(run)
    expect(troublesOf({ waits: wait === undefined ? [] : [wait], response: null })).toMatchObject([
      { nodeId: 'pay', diagnostic: { code: 'reverted', phase: 'simulate' } }
    ])
    isPaused = false
    const { token = '', digest = '' } = wait ?? {}
    await run.resume(token, { digest, action: 'retry' })
    expect(await parked(run)).toBeUndefined()
    expect(chain.functions).toEqual(['transfer'])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('is asked by its hash again where it was sent and its time was over', async () => {
    const chain = poor()
    let isIncluded = false
    const providers = chain.providers.map((provider) => ({
      ...provider,
      perform: (call: Parameters<typeof provider.perform>[0]) =>
        provider.name === chainEffects.look && !isIncluded
          ? { status: 'pending' }
          : provider.perform(call)
    }))
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      providers,
      workflow: free
    })
    const inputs = { amount: { type: 'uint256', default: '5' } }
    const args = { token: asset, to: owner, amount: { ref: 'inputs.amount' } }
    const document = flow([transfer('pay', { args, timeout_ms: 100 })], { inputs })
    const run = tally.begin(document, { id: 'one', inputs: {} })
    const wait = await parked(run)
    const [hash = ''] = chain.sent.keys()
    const waits = wait === undefined ? [] : [wait]
    const sent = new Map([['root/pay', { hash }]])
    expect(troublesOf({ waits, response: null, sent })).toMatchObject([
      {
        kind: 'decision',
        diagnostic: { code: 'unknown_outcome', transaction: { hash } },
        actions: ['retry', 'skip', 'abort']
      }
    ])
    // Other arguments would be another payment beside the one that is under way.
    const patches = [{ path: 'inputs.amount', value: '6' }]
    const { token = '', digest = '' } = wait ?? {}
    expect(await run.resume(token, { digest, action: 'patch', value: { patches } })).toMatchObject({
      reason: 'answer_refused',
      problem: expect.stringContaining('may still take effect')
    })
    const [before] = await tally.recheck('one')
    expect(before).toMatchObject({
      hash,
      recorded: null,
      found: { status: 'pending' },
      diagnostic: { code: 'unknown_outcome', transaction: { hash } }
    })
    isIncluded = true
    expect(await tally.recheck('one')).toMatchObject([
      { recorded: null, found: { status: 'included', success: true } }
    ])
    await run.resume(token, { digest, action: 'retry' })
    expect((await run.result).status).toBe('done')
    expect(chain.functions).toEqual(['transfer'])
    expect(await tally.recheck('one')).toMatchObject([{ found: { status: 'in_place' } }])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('has its outputs asked about too, since all of its work is done', async () => {
    const outputs = { rate: { cel: '1 / (nodes.check.outputs.balance - 1)' } }
    const nodes = [transfer('pay'), balance('check', { deps: ['pay'] })]
    const { tally, run } = await start(flow(nodes, { outputs }), poor())
    await using _ = tally
    const wait = await parked(run)
    const [trouble] = troublesOf({ waits: wait === undefined ? [] : [wait], response: null })
    expect(trouble).toMatchObject({
      nodeId: 'run__outputs',
      diagnostic: { code: 'output_failed' },
      actions: ['retry', 'skip', 'abort']
    })
    const { token = '', digest = '' } = wait ?? {}
    const patch = { digest, action: 'patch', value: { patches: [] } } as const
    expect(await run.resume(token, patch)).toMatchObject({ reason: 'answer_refused' })
    expect(await run.resume(token, { digest, action: 'skip' })).toMatchObject({ accepted: true })
    expect((await run.result).status).toBe('done')
  })
})

describe('W13: a query that says nothing of retry', () => {
  const fails = (code: string, retryable: boolean) => ({
    fails: {
      code,
      phase: 'read',
      chain: 'eip155:1',
      executionType: 'evm_read',
      retryable,
      sent: false,
      message: 'no answer'
    }
  })

  it('is tried again where its failure may pass, and only there', async () => {
    const chain = new TestChain({
      read: ({ before }) => (before < 2 ? fails('rpc_down', true) : { balance: '1' })
    })
    const { tally, run } = await start(flow([balance('check')]), chain)
    await using _ = tally
    expect((await run.result).status).toBe('done')
    expect(chain.reads).toHaveLength(3)
    const other = new TestChain({ read: () => fails('invalid_execution', false) })
    const second = await start(flow([balance('check')]), other)
    await using __ = second.tally
    expect(await parked(second.run)).toMatchObject({ reason: 'decision' })
    expect(other.reads).toHaveLength(1)
  })
})
