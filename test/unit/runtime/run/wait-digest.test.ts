import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../../../src/block/index.js'
import { defineBlock, EffectFailure } from '../../../../src/code/index.js'
import { checkWait, digestOf, type Json, ManualClock } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn } from '../../../support/lives.js'

const blocks = [
  defineBlock({
    name: 'ask',
    version: '1',
    sideEffects: 'none',
    run: async (ctx) => (await ctx.wait({ reason: 'external', request: { what: 'it' } })).value
  }),
  defineBlock({
    name: 'fail',
    version: '1',
    sideEffects: 'none',
    run: (ctx) => ctx.fail('no_luck')
  }),
  defineBlock({
    name: 'send',
    version: '1',
    sideEffects: 'non_idempotent',
    intents: ['letter.send'],
    run: (ctx) =>
      ctx.effect('post', {
        request: { to: 'Ada' },
        perform: () => {
          throw new EffectFailure('lost')
        }
      })
  })
]

/** A document with one node. */
function one(node: Json): Json {
  const head = { schema: 'tally-composite/1', name: 'one', version: '1' }
  return { ...head, entry_point: 'only', nodes: { only: node } }
}

/** Every kind of question that a person is asked, by what asks it. */
const asking: Readonly<Record<string, Json>> = {
  'a block with ctx.wait': one({ block: 'ask' }),
  'a node with confirm': one({ block: 'ask', confirm: true }),
  'a node with on_error: ask': one({ block: 'fail', on_error: 'ask' }),
  'an outcome that is unknown': one({ block: 'send' }),
  'an intent': one({ block: 'intent', input: { lit: { action: 'letter.send', payload: {} } } })
}

describe.each(Object.entries(asking))('the wait of %s', (_, document) => {
  it('W7: carries all that its digest covers, wherever it is shown', async () => {
    const store = lasting(openMemoryStore())
    const open = () => openOn(store, { blocks, clock: new ManualClock() })
    const shown: OpenWait[] = []
    let tally = await open()
    for await (const event of tally.begin(document, { id: 'asks' })) {
      if (event.type === 'waiting') shown.push(event)
      if (event.type !== 'run.parked') continue
      shown.push(...event.waits)
      break
    }
    shown.push(...(await (await tally.attach('asks')).waits()))
    await tally.close()
    tally = await open()
    shown.push(...(await (await tally.attach('asks')).waits()))
    const { signal } = new AbortController()
    const view = (await tally.service({
      method: 'show',
      params: { id: 'asks' },
      signal
    })) as unknown
    shown.push(...(view as { readonly waits: readonly OpenWait[] }).waits)
    await tally.close()
    expect(shown.length).toBeGreaterThanOrEqual(5)
    for (const wait of shown) {
      expect(digestOf(wait)).toBe(wait.digest)
      expect(() => checkWait('asks', wait)).not.toThrow()
      for (const member of Object.keys(covered)) {
        const other = { ...wait, ...{ [member]: covered[member] } }
        expect(() => checkWait('asks', other)).toThrow(expect.objectContaining(forgedWait))
      }
    }
  })
})

const forgedWait = { code: 'run.wait_forged' }
const covered: Readonly<Record<string, Json>> = {
  asking: 9,
  blockHash: '0'.repeat(64),
  chain: 'eip155:1',
  identity: '0'.repeat(64),
  path: 'root/other',
  policyHash: '0'.repeat(64),
  request: 'pay Mallory',
  runId: 'other',
  signer: '0x0',
  step: 99
}

describe('a wait of 0.1.0', () => {
  it('has no digest that can be computed, and is shown all the same', () => {
    const old = {
      path: 'root',
      step: 1,
      request: 'it',
      digest: '0'.repeat(64) as OpenWait['digest']
    }
    expect(digestOf(old)).toBeUndefined()
    expect(() => checkWait('asks', old)).not.toThrow()
  })
})

describe('an answer from code without types', () => {
  it.each([undefined, null, 1, {}, ''])(
    'with %j for token and digest is refused',
    async (given) => {
      await using tally = await openOn(await openMemoryStore(), { blocks })
      const run = tally.begin(one({ block: 'ask' }))
      for await (const { type } of run) if (type === 'run.parked') break
      const named = { token: given as unknown as string, digest: given as unknown as string }
      for (const action of ['approve', 'deny', 'resume'] as const) {
        const outcome = await run[action](named.token, { digest: named.digest, value: 1 } as never)
        expect(outcome).toMatchObject({ accepted: false })
      }
      const [wait] = await run.waits()
      expect(wait).toBeDefined()
      await run.cancel()
      expect((await run.result).status).toBe('cancelled')
    }
  )
})
