import { expect, it } from 'vitest'
import { defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import { type Json, ManualClock, systemRandom } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { openOn } from '../../../support/lives.js'

const one = defineBlock({ name: 'one', version: '1.0.0', sideEffects: 'none', run: () => 1 })
const flow = defineWorkflow({ name: 'flow', version: '1.0.0', run: async () => 1 })
const document = JSON.stringify({
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'one' } }
})

const open = () =>
  openOn(openMemoryStore(), {
    ...{ blocks: [one], workflows: [flow], queues: { orders: {} } },
    ...{ random: systemRandom, clock: new ManualClock() }
  })

type Opened = Awaited<ReturnType<typeof open>>

const asking = (tally: Opened) => async (method: string, params: Json) =>
  tally.service({ method, params, signal: new AbortController().signal })

it('K13: an agent names no queue and no tag of a run that it starts', async () => {
  await using tally = await open()
  const ask = asking(tally)
  const start = { document, id: 'r', agent: 'helper' }
  for (const own of [{ queue: 'orders' }, { tags: ['a'] }]) {
    await expect(ask('start', { ...start, ...own })).rejects.toMatchObject({
      code: 'service.invalid_params'
    })
  }
  expect(tally.run('r')).toBeUndefined()
})

it('K13: an agent registers and changes no schedule, whatever it is granted', async () => {
  await using tally = await open()
  const ask = asking(tally)
  await tally.schedule({ name: 'mine', every: '1h', workflow: flow })
  const spec = {
    ...{ everyMs: 60_000, timeZone: 'UTC', overlap: 'skip', catchUp: 'last' },
    ...{ workflow: 'flow', input: null }
  }
  const asked: readonly (readonly [string, Json])[] = [
    ['system.schedule', { name: 'theirs', spec }],
    ['system.schedule', { name: 'mine', spec }],
    ['system.schedule.pause', { name: 'mine' }],
    ['system.schedule.resume', { name: 'mine' }],
    ['system.schedule.remove', { name: 'mine' }]
  ]
  for (const [action, payload] of asked) {
    const reply = await ask('intent', { action, payload, agent: 'helper' })
    expect(reply).toMatchObject({ type: 'error', reason: 'not_permitted' })
  }
  const { schedules } = await tally.queries.schedules()
  expect(schedules).toMatchObject([{ name: 'mine', everyMs: 3_600_000, isPaused: false }])
})

it('takes tags and a queue of the owner over the socket, and refuses what is none', async () => {
  await using tally = await open()
  const ask = asking(tally)
  const queue = { name: 'orders', partition: 'anna', priority: 2 }
  await ask('start', { document, id: 'r', tags: ['b', 'a'], queue })
  await (await tally.attach('r')).result
  expect(tally.run('r')?.started).toMatchObject({ tags: ['a', 'b'], queue })
  for (const bad of [{ tags: 'a' }, { tags: { length: 0 } }, { tags: [1] }, { tags: 7 }]) {
    await expect(ask('start', { document, id: 's', ...bad })).rejects.toMatchObject({
      code: 'run.invalid_tags'
    })
  }
  for (const bad of [{ queue: 7 }, { queue: {} }, { queue: { name: 'orders', priority: 'x' } }]) {
    await expect(ask('start', { document, id: 's', ...bad })).rejects.toMatchObject({
      code: 'run.invalid_queue'
    })
  }
})
