import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import { compositeDocument } from '../../../support/composites.js'
import { Machine, settleDown } from '../../../support/lives.js'

/** What each append of a run with one step has, by the kinds of its entries. */
async function appendsOf(
  call: (ctx: BlockContext) => Promise<unknown>,
  options: { readonly durability?: 'output' | 'step' } = {}
): Promise<readonly string[]> {
  const machine = new Machine()
  const block = defineBlock({
    name: 'acts',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx): Promise<Json> => {
      await call(ctx)
      return null
    }
  })
  const tally = await machine.open({ blocks: [block], ...options })
  const found: string[] = []
  const append = tally.ledger.append.bind(tally.ledger)
  const noted: typeof append = (item) => {
    const kinds = item.entries.map((text) => (JSON.parse(text) as { readonly k: string }).k)
    found.push(kinds.join(' '))
    return append(item)
  }
  Object.defineProperty(tally.ledger, 'append', { value: noted })
  const document = compositeDocument({ nodes: { a: { block: 'acts' } }, transitions: {} })
  const { result } = tally.begin(document, { id: 'r' })
  while (
    (await Promise.race([result.then(() => 'over'), settleDown(() => found.length)])) !== 'over'
  ) {
    machine.clock.advance(1)
  }
  await tally.close()
  return found
}

const perform = () => 1

describe('D2: what a crash may undo is appended with the entry that comes next', () => {
  it('the answer of a read, with the end of its step', async () => {
    const appends = await appendsOf((ctx) => ctx.effect('look', { sideEffects: 'none', perform }))
    expect(appends).toEqual(['run.started', 'sealed settled', 'run.finished'])
  })

  it('the answer of a read, with the request of a write behind it', async () => {
    const appends = await appendsOf(async (ctx) => {
      await ctx.effect('look', { sideEffects: 'none', perform })
      await ctx.effect('act', { sideEffects: 'idempotent', perform })
    })
    const expected = ['run.started', 'sealed requested', 'sealed', 'settled', 'run.finished']
    expect(appends).toEqual(expected)
  })

  it('a sleep and its end, once the run rests', async () => {
    const appends = await appendsOf((ctx) => ctx.sleep(1))
    expect(appends).toEqual(['run.started', 'wait waiting', 'sealed settled', 'run.finished'])
  })
})

describe('D2: what no crash may undo is appended at once', () => {
  it('the answer of a write', async () => {
    const appends = await appendsOf((ctx) =>
      ctx.effect('act', { sideEffects: 'idempotent', perform })
    )
    expect(appends).toEqual(['run.started', 'requested', 'sealed', 'settled', 'run.finished'])
  })

  it('the answer of a read that is to last', async () => {
    const appends = await appendsOf((ctx) =>
      ctx.effect('look', { sideEffects: 'none', durable: true, perform })
    )
    expect(appends).toEqual(['run.started', 'sealed', 'settled', 'run.finished'])
  })

  it('the answer of a read of a run that is durable step by step', async () => {
    const look = (ctx: BlockContext) => ctx.effect('look', { sideEffects: 'none', perform })
    const appends = await appendsOf(look, { durability: 'step' })
    expect(appends).toEqual(['run.started', 'sealed', 'settled', 'run.finished'])
  })
})
