import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock } from '../../../../src/code/index.js'
import { type Json, systemRandom } from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, until } from '../../../support/lives.js'

/** What a run was sent and has not taken: the query `signals`, folded from the journal. */

type Code = (ctx: BlockContext, input: Json) => Promise<Json>

const oneStep = (extra: object = {}): Json => ({
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'take',
  nodes: { take: { block: 'order.take', ...extra } }
})

function open(run: Code, store: Store = openMemoryStore()) {
  const block = defineBlock({ name: 'order.take', version: '1.0.0', sideEffects: 'none', run })
  return openOn(store, { blocks: [block], random: systemRandom })
}

type Opened = Awaited<ReturnType<typeof open>>

const namesOf = async (tally: Opened, id = 'a') =>
  (await tally.queries.signals({ id })).signals.map(({ name, takenAt }) => [name, takenAt])

const waits = (tally: Opened) => until(() => tally.run('a')?.status === 'waiting')

describe('signals of a run', () => {
  it('B3: are listed in the order in which they came, until the code takes them', async () => {
    const store = openMemoryStore()
    await using tally = await open(async (ctx) => {
      await ctx.signal('begin')
      return [await ctx.signal('second'), await ctx.signal('first')]
    }, store)
    const run = tally.begin(oneStep(), { id: 'a' })
    await waits(tally)
    expect(await namesOf(tally)).toEqual([])
    await run.signal('first', { amount: '1.00' }, { id: 'one' })
    await run.signal('second', 2)
    const { signals } = await tally.queries.signals({ id: 'a' })
    expect(signals[0]).toMatchObject({
      name: 'first',
      id: 'one',
      value: { amount: '1.00' },
      takenAt: null
    })
    expect(signals[0]?.at).toBeGreaterThan(0)
    expect(signals.map(({ name }) => name)).toEqual(['first', 'second'])
    await run.signal('begin', null)
    await run.result
    expect(await namesOf(tally)).toEqual([])
  })

  it('B3: name the attempt that was given one and has not succeeded yet', async () => {
    await using tally = await open(async (ctx) => {
      await ctx.signal('early')
      return ctx.signal('late')
    })
    const run = tally.begin(oneStep(), { id: 'a' })
    await run.signal('early', 1)
    await run.signal('other', 2)
    await until(async () => (await run.waits()).some(({ request }) => isFor(request, 'late')))
    expect(await namesOf(tally)).toEqual([
      ['early', 'root/take'],
      ['other', null]
    ])
    await run.signal('late', 3)
    await run.result
  })

  it('B3: are there again when the attempt that took them has failed', async () => {
    await using tally = await open(async (ctx) => {
      const item = await ctx.signal('item')
      if (ctx.attempt === 1) ctx.fail('once')
      await ctx.signal('end')
      return item
    })
    const run = tally.begin(
      oneStep({ recovery: [{ retry: { max_attempts: 2, interval_ms: 60_000 } }] }),
      { id: 'a' }
    )
    await run.signal('item', 1)
    await waits(tally)
    expect(await namesOf(tally)).toEqual([['item', null]])
    await run.cancel()
  })

  it('stay listed when the run has ended without them, after a new opening too', async () => {
    const store = lasting(openMemoryStore())
    const code: Code = async (ctx) => ctx.signal('paid')
    const before = await open(code, store)
    const run = before.begin(oneStep(), { id: 'a' })
    await run.signal('refund', 1)
    await run.signal('paid', 2)
    await run.result
    expect(await namesOf(before)).toEqual([['refund', null]])
    await before.close()
    await using after = await open(code, store)
    expect(await namesOf(after)).toEqual([['refund', null]])
  })

  it('rejects for a run that does not exist', async () => {
    await using tally = await open(async () => null)
    await expect(tally.queries.signals({ id: 'none' })).rejects.toMatchObject({
      code: 'run.not_found'
    })
  })
})

function isFor(request: Json, name: string): boolean {
  return JSON.stringify(request).includes(`"${name}"`)
}
