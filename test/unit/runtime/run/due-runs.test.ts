import { expect, it } from 'vitest'
import type { RunStarted } from '../../../../src/block/index.js'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, limits, ManualClock, nextTurn } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { openOn, until } from '../../../support/lives.js'

/** Many timers that are due at once. */

const sleeps = defineBlock({
  name: 'sleeps',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    await ctx.sleep(86_400_000)
    return 1
  }
})
const document: Json = {
  schema: 'tally-composite/1',
  name: 'naps',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'sleeps' } }
}

async function parked(count: number) {
  const clock = new ManualClock()
  const tally = await openOn(openMemoryStore(), { blocks: [sleeps], clock })
  for (let index = 0; index < count; index += 1) await tally.start(document, { id: `r${index}` })
  await until(() => tally.runsOf.liveCount === 0)
  return { clock, tally }
}

it('so many are in memory at once, whatever falls due together, and all end', async () => {
  const count = limits.DUE_RUNS_AT_ONCE_MAX * 2
  const { clock, tally } = await parked(count)
  clock.advance(86_400_000)
  let most = 0
  const done = async () => (await tally.queries.counts()).byStatus.done ?? 0
  while (tally.runsOf.busyWith !== undefined) {
    most = Math.max(most, tally.runsOf.liveCount)
    await nextTurn()
  }
  await until(async () => (await done()) === count)
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(limits.DUE_RUNS_AT_ONCE_MAX)
  await tally.close()
})

it('one that is due ends without another turn of the clock', async () => {
  const { clock, tally } = await parked(1)
  clock.advance(86_400_000)
  await until(async () => tally.run('r0')?.status === 'done')
  expect(clock.nextDue).toBeUndefined()
  await tally.close()
})

it('closing parks those that have not had their time', async () => {
  const { clock, tally } = await parked(limits.DUE_RUNS_AT_ONCE_MAX + 8)
  clock.advance(86_400_000)
  await tally.close()
  expect(tally.runsOf.liveCount).toBe(0)
})

it('runs of one definition have one chart, also when they are resumed', async () => {
  const { tally } = await parked(2)
  const { documents } = tally.registry
  const startedOf = (id: string) => tally.run(id)?.started as unknown as RunStarted
  const compiled = ['r0', 'r1'].map(async (id) => {
    const { definition, pins, obligations } = startedOf(id)
    const prepared = await documents.compileRun(definition as never, { pins, obligations })
    return prepared.ok ? prepared.root : undefined
  })
  const [one, other] = await Promise.all(compiled)
  expect(one).toBeDefined()
  expect(other).toBe(one)
  await tally.close()
})
