import { expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { ManualClock, nextTurn } from '../../../../src/core/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'
import { until } from '../../../support/lives.js'

/** More than a run takes to watch its waits, and to hear that one is due. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await nextTurn()
}

let disk: LedgerOnDisk

ledgerForEachTest((made) => {
  disk = made
})

const head = { schema: 'tally-composite/1', version: '1.0.0', entry_point: 'a' }
const documentOf = (block: string) => ({ ...head, name: block, nodes: { a: { block } } })

it('L10: a wait in whose place another call stands is not shown, and its time ends no call', async () => {
  const clock = new ManualClock()
  let answer: ((value: number) => void) | undefined
  const asks = defineBlock({
    name: 'asks',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx) => {
      if (ctx.state.get('k') === undefined) {
        return ctx.wait({ reason: 'external', request: 'q', timeoutMs: 60_000 })
      }
      const perform = () => new Promise<number>((resolve) => (answer = resolve))
      return ctx.effect('look', { request: 1, sideEffects: 'none', perform })
    }
  })
  const pokes = defineBlock({
    name: 'pokes',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => {
      ctx.state.set('k', 1)
      return null
    }
  })
  const tally = await disk.open({ blocks: [asks, pokes], clock })
  const run = tally.begin(documentOf('asks'), { id: 'asks' })
  await until(() => tally.ledger.run('asks' as typeof run.id)?.status === 'waiting')
  await tally.begin(documentOf('pokes'), { id: 'pokes' }).result
  await tally.resume('asks')
  await until(() => answer !== undefined)
  await turns()
  // No person is shown a question that would be refused an answer.
  expect(await run.waits()).toEqual([])
  expect(await tally.waits()).toMatchObject({ items: [] })
  expect(await tally.runs({ limit: 2 })).toMatchObject({
    items: expect.arrayContaining([expect.objectContaining({ id: 'asks', waits: [] })])
  })
  clock.advance(120_000)
  await turns()
  answer?.(7)
  expect(await run.result).toMatchObject({ status: 'done', response: { data: 7 } })
  expect(tally.status()).toMatchObject({ mode: 'ready', quarantined: [] })
  expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
})
