import { describe, expect, it } from 'vitest'
import type { Provider } from '../../../src/block/index.js'
import { type CompensatingEffect, defineBlock } from '../../../src/code/index.js'
import type { Json } from '../../../src/core/index.js'
import type { Registrations } from '../../../src/runtime/index.js'
import { recorded, rewritten } from '../../support/rewrite.js'

const refund = (amount: Json): CompensatingEffect => ({
  effect: 'refund',
  request: { amount },
  sideEffects: 'idempotent'
})

/** Two writes: one that its block undoes, one that its provider does; `wrong` works out another. */
function shop(wrong: 'block' | 'provider' | 'none' = 'none'): Registrations {
  const pay = defineBlock({
    name: 'pay',
    version: '1.0.0',
    sideEffects: 'non_idempotent',
    compensate: ({ request }) => refund(wrong === 'block' ? 0 : request),
    run: (ctx) => ctx.effect('pay', { request: 5, perform: () => 'paid' })
  })
  const mail = defineBlock({
    name: 'mail',
    version: '1.0.0',
    sideEffects: 'non_idempotent',
    capabilities: ['mail'],
    run: (ctx) => ctx.effect('mail', { request: 'hello' })
  })
  const boom = defineBlock({
    name: 'boom',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.fail('boom')
  })
  const providers: readonly Provider[] = [
    { name: 'refund', perform: () => 'refunded' },
    {
      name: 'mail',
      perform: () => 'sent',
      compensate: ({ response }) => refund(wrong === 'provider' ? 0 : response)
    }
  ]
  return { blocks: [pay, mail, boom], providers }
}

const document: Json = {
  schema: 'tally-composite/1',
  name: 'shop',
  version: '1.0.0',
  entry_point: 'all',
  nodes: {
    all: {
      composite: {
        atomic: true,
        entry_point: 'pay',
        nodes: { pay: { block: 'pay' }, mail: { block: 'mail' }, boom: { block: 'boom' } },
        transitions: { pay: 'mail', mail: 'boom' }
      }
    }
  }
}

const rolledBack = recorded(shop(), async (tally) => {
  expect((await tally.begin(document, { id: 'shop' }).result).status).toBe('failed')
})

describe('C4: compensations', () => {
  it('are worked out again from the request that the code makes and the sealed response', async () => {
    const { report } = await rolledBack
    expect(report.failure).toBeUndefined()
    expect(report).toMatchObject({ receipts: 2, reexecuted: 2, reexecutedFailures: 2 })
    expect(report.notChecked.join()).not.toContain('worked out')
  })

  it('are found when the journal has another one, signed with the own key', async () => {
    const { failure } = await rewritten(await rolledBack, (entry) => {
      if (entry['k'] !== 'sealed' || entry['effect'] !== 'pay') return
      Object.assign(entry['undo'] as object, { request: { amount: 500 } })
    })
    expect(failure).toMatchObject({ field: 'journal.undo', key: 'root/all/pay' })
  })

  it('are found when a write is said to be irreversible that is not', async () => {
    const { failure } = await rewritten(await rolledBack, (entry) => {
      if (entry['k'] === 'sealed' && entry['effect'] === 'pay') entry['undo'] = null
    })
    expect(failure).toMatchObject({ field: 'journal.undo', signed: 'null' })
  })

  it('are findings when the block has changed under its version', async () => {
    const { failure } = await rewritten(await rolledBack, undefined, shop('block'))
    expect(failure).toMatchObject({ field: 'journal.undo' })
  })

  it('are reported and no failure when a provider, which has no version, has changed', async () => {
    const { ok, notChecked } = await rewritten(await rolledBack, undefined, shop('provider'))
    expect(ok).toBe(true)
    expect(notChecked.join()).toContain('1 compensation of mail: its provider')
  })

  it('are worked out for a step that was cancelled after its write', async () => {
    const { blocks = [], providers = [] } = shop()
    const stuck = defineBlock({
      name: 'stuck',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      compensate: ({ request }) => refund(request),
      run: async (ctx) => {
        await ctx.effect('pay', { request: 5, perform: () => 'paid' })
        return ctx.wait({ reason: 'external' })
      }
    })
    const one = structuredClone(document) as never as { nodes: { all: { composite: object } } }
    one.nodes.all.composite = { atomic: true, entry_point: 'a', nodes: { a: { block: 'stuck' } } }
    const run = await recorded({ blocks: [...blocks, stuck], providers }, async (tally) => {
      const handle = tally.begin(one as never as Json, { id: 'shop' })
      for await (const { type } of handle) if (type === 'waiting') await handle.cancel()
    })
    expect(run.report.failure).toBeUndefined()
    expect(run.report.notChecked.join()).not.toContain('worked out')
    const { failure } = await rewritten(run, (entry) => {
      if (entry['k'] !== 'sealed' || entry['effect'] !== 'pay') return
      Object.assign(entry['undo'] as object, { request: { amount: 500 } })
    })
    expect(failure).toMatchObject({ field: 'journal.undo' })
  })
})
