import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isTallyError, type Json, type JsonObject } from '../../../../src/core/index.js'
import { chainEffects } from '../../../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../../../src/runtime/index.js'
import { aisText } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { transfer, flow as workflow } from '../../../support/ais-flows.js'

/**
 * K14, K15: what an agent may do by workflows of AIS. Here each write waits for a person, and a
 * pack of the host bounds them.
 */

const pack = {
  schema: 'ais-pack/0.0.2',
  meta: { name: 'own', version: '1.0.0' },
  includes: [{ protocol: 'erc20', version: '0.0.2' }]
}

let chain: TestChain
let tally: WiredRuntime
beforeEach(async () => {
  chain = new TestChain()
  tally = await createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    providers: chain.providers,
    workflow: { protocols: [aisText('erc20')], packs: [pack] }
  })
})
afterEach(() => tally.close())

const { signal } = new AbortController()
const pays = workflow([transfer('one')])
const bundle = (more: JsonObject): JsonObject => ({ schema: 'ais-bundle/1', flow: pays, ...more })

/** Goes as far as the run goes by itself; gives the last event, or the failure. */
async function went(what: JsonObject, agent?: string): Promise<JsonObject> {
  const by = agent === undefined ? {} : { agent }
  const id = `${agent ?? 'owner'}-1`
  const asked = 'published' in what ? what : { document: JSON.stringify(what) }
  try {
    const params = { ...asked, ...by, id }
    const events = tally.service({ method: 'run', params, signal }) as AsyncIterable<Json>
    let last: Json = null
    for await (const event of events) last = event
    return last as JsonObject
  } catch (error) {
    if (isTallyError(error)) return { code: error.code, ...error.context }
    throw error
  }
}

async function change(action: 'grant' | 'revoke', subject: string, capabilities?: string[]) {
  const named = capabilities === undefined ? {} : { capabilities }
  const payload = { principal: { kind: 'agent', id: 'worker' }, subject, ...named }
  expect(await tally.intent({ action: `system.${action}`, payload })).toMatchObject({
    type: 'dapp'
  })
}

async function grantAll(): Promise<void> {
  for (const subject of ['ais.action', 'ais.preflight', 'ais.query']) await change('grant', subject)
}

describe('a bundle', () => {
  const said: readonly (readonly [what: string, more: JsonObject, path: string])[] = [
    ['that its writes are sent', { writes: 'broadcast' }, 'writes'],
    ['that what the policy asks is answered', { yes: true }, 'yes'],
    ['what a protocol is', { protocols: [aisText('erc20')] }, 'protocols']
  ]
  it.each(said)('K15: of an agent does not say %s', async (_, more, path) => {
    await grantAll()
    const refused = await went(bundle(more), 'worker')
    expect(refused).toMatchObject({ type: 'run.finished', status: 'failed' })
    const { reason, details } = refused['response'] as JsonObject
    expect(reason).toBe('invalid_graph')
    const { diagnostics } = details as { readonly diagnostics: readonly JsonObject[] }
    expect(diagnostics).toMatchObject([{ reason: 'invalid_graph', path: [path] }])
    expect(tally.run('worker-1')).toBeUndefined()
    expect(chain.sent.size).toBe(0)
  })

  it.each(said)('K15: of the owner, or published by the owner, says %s', async (_, more) => {
    const owned = await went(bundle(more))
    expect(owned['type']).toMatch(/^run\.(finished|parked)$/)
    const payload = { document: bundle(more), name: 'pays' }
    expect(await tally.intent({ action: 'system.publish', payload })).toMatchObject({
      type: 'dapp'
    })
    expect(await went({ published: 'pays' }, 'worker')).toMatchObject({ code: 'run.not_permitted' })
    await grantAll()
    const granted = await went({ published: 'pays' }, 'worker')
    expect([granted['type'], granted['status']]).toEqual([owned['type'], owned['status']])
  })

  it('K15: of an agent may be stricter than the host', async () => {
    await grantAll()
    const ended = await went(bundle({ writes: 'simulate', on_error: 'stop' }), 'worker')
    expect(ended).toMatchObject({ type: 'run.finished', status: 'done' })
    expect(chain.sent.size).toBe(0)
  })
})

describe('a block of workflows', () => {
  /** What a write of a workflow is given, by hand: no policy asks, and it is sent by itself. */
  const input = {
    lit: {
      spec: {
        node: { id: 'one', chain: 'eip155:1', risk: null, kind: 'action' },
        plan: { inputs: {}, policy: null },
        policy: { packs: [], constraints: {} },
        mode: { writes: 'broadcast', yes: true },
        rules: 3
      },
      given: {},
      nodes: {}
    }
  }
  const named = { name: 'by-hand', version: '1' }
  const one = { ...named, schema: 'tally-composite/1', entry_point: 'one' }
  const inner = { entry_point: 'deep', nodes: { deep: { block: 'ais.action', input } } }
  const forms: readonly (readonly [what: string, document: JsonObject])[] = [
    ['a composite', { ...one, nodes: { one: { block: 'ais.action', input } } }],
    ['a version', { ...one, nodes: { one: { block: 'ais.action@1.0.0', input } } }],
    ['a composite inside of one', { ...one, nodes: { one: { composite: inner } } }],
    ['a query', { ...one, nodes: { one: { block: 'ais.query', input } } }],
    [
      'a fallback',
      { ...one, nodes: { one: { block: 'intent', recovery: [{ fallback: ['ais.action'] }] } } }
    ],
    [
      'a plan',
      { ...named, schema: 'tally-plan/1', nodes: [{ id: 'one', block: 'ais.action', input }] }
    ],
    [
      'a graph',
      {
        schema: 'tally-graph/1',
        name: 'by-hand',
        steps: [{ id: 'one', block: 'ais.action' }]
      }
    ]
  ]
  it.each(forms)('K15: is named by workflows alone, not by %s', async (_, document) => {
    await grantAll()
    for (const agent of ['worker', undefined]) {
      const refused = await went(document, agent)
      expect(refused).toMatchObject({ type: 'run.finished', status: 'failed' })
      expect(refused['response']).toMatchObject({ reason: 'invalid_graph' })
      expect(JSON.stringify(refused)).toContain('is done by workflows alone')
    }
    expect(chain.sent.size).toBe(0)
  })

  it('K15: is named by no composite that the program registers', async () => {
    const composites = [{ ...one, nodes: { one: { block: 'ais.action', input } } }]
    const opening = createRuntime({ location: MEMORY_LOCATION, composites })
    await expect(opening).rejects.toMatchObject({ code: 'runtime.invalid_composite' })
  })
})

describe('a grant for the actions of workflows', () => {
  it('K14: lets nothing begin without every effect of theirs', async () => {
    await change('grant', 'ais.preflight')
    const block = tally.registry.block('ais.action')
    const others = [...(block?.capabilities ?? [])].filter((one) => one !== chainEffects.broadcast)
    expect(others).toContain(chainEffects.prepare)
    await change('grant', 'ais.action', ['ais.action', ...others])
    const missing = `ais.action@${block?.version}: ${chainEffects.broadcast}`
    expect(await went(pays, 'worker')).toMatchObject({ code: 'run.not_permitted', missing })
    await change('grant', 'ais.action')
    expect(await went(pays, 'worker')).toMatchObject({ type: 'run.parked' })
  })

  it('K14: that is taken back while a write waits keeps it from being sent', async () => {
    await grantAll()
    expect(await went(pays, 'worker')).toMatchObject({ type: 'run.parked' })
    const run = await tally.attach('worker-1')
    const [wait] = await run.waits()
    await change('revoke', 'ais.action')
    await run.approve(wait?.token ?? '', { digest: wait?.digest ?? '' })
    const events: string[] = []
    for await (const { type } of run) {
      events.push(type)
      if (type === 'run.parked' || type === 'run.finished') break
    }
    expect(chain.sent.size).toBe(0)
    const [asked] = await run.waits()
    expect(JSON.stringify(asked ?? (await run.result))).toContain('not_permitted')
  })
})
