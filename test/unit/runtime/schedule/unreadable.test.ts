import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, limits, systemRandom } from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import type { ScheduleOptions } from '../../../../src/runtime/index.js'
import type { WiredRuntime } from '../../../../src/runtime/runtime.js'
import { FakeClock } from '../../../../src/testing/fake-clock.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn } from '../../../support/lives.js'

const does = { sideEffects: 'none', run: () => 'done' } as const
const works = defineBlock({ name: 'works', version: '1', ...does })
const document = {
  schema: 'tally-composite/1',
  name: 'job',
  version: '1',
  entry_point: 'a',
  nodes: { a: { block: 'works' } }
}
const spec = {
  ...{ everyMs: 60_000, timeZone: 'UTC', overlap: 'allow', catchUp: 'last', input: null },
  document: JSON.stringify(document)
}

let store: Store
let clock: FakeClock
let tally: WiredRuntime

async function open(): Promise<void> {
  const kept = lasting(store)
  tally = await openOn(kept, { blocks: [works], clock, random: systemRandom })
  await tally.schedules.prepare()
  await tally.resumeAll()
  await tally.schedules.begin([])
}

beforeEach(async () => {
  store = openMemoryStore()
  clock = new FakeClock({ at: Date.parse('2026-06-01T00:00:00Z') })
  await open()
})
afterEach(async () => {
  await tally.close()
  await store.close()
})

async function problems() {
  const { schedules } = await tally.queries.schedules()
  return Object.fromEntries(schedules.map(({ name, problem }) => [name, problem === null]))
}

const { everyMs: _, ...noTime } = spec
const tags = (count: number) => Array.from({ length: count }, (_, index) => `tag-${index}`)
const unreadable: readonly (readonly [what: string, spec: Json])[] = [
  ['a cron that is none', { ...noTime, cron: 'now and then' }],
  ['a zone that is none', { ...noTime, cron: '0 0 * * *', timeZone: 'Nowhere/At_all' }],
  ['no time at all', noTime],
  ['two times', { ...spec, cron: '0 0 * * *' }],
  ['a span that is too short', { ...spec, everyMs: 1 }]
]

describe('a schedule that cannot be read', () => {
  it.each(unreadable)('of %s begins nothing, says so, and stops no other', async (_, bad) => {
    const ask = (name: string, given: Json) =>
      tally.intent({ action: 'system.schedule', payload: { name, spec: given } })
    await ask('bad', bad)
    await ask('good', spec)
    expect(await problems()).toEqual({ bad: false, good: true })
    await tally.close()
    await open()
    expect(await problems()).toEqual({ bad: false, good: true })
    expect(tally.status().warnings.join('\n')).toContain('schedule bad: ')
    await clock.advance(60_000)
    const { items } = await tally.runs({ name: 'job' })
    expect(items.map(({ id }) => id.split(':')[1])).toEqual(['good'])
  })

  it.each([
    ['a cron that is no text', { cron: null }],
    ['a cron with a member of Object.prototype', { cron: { toString: 1 } }],
    ['a span that is no span', { every: {} }],
    ['a zone that is no text', { cron: '* * * * *', timeZone: 7 }],
    ['no catchUp', { every: '1m', catchUp: null }],
    ['tags that are no list', { every: '1m', tags: null }],
    ['tags that are no texts', { every: '1m', tags: [{ toString: 1 }] }],
    ['an empty tag', { every: '1m', tags: [''] }],
    ['more tags than its runs can have', { every: '1m', tags: tags(limits.RUN_TAGS_MAX) }],
    ['a queue that is none', { every: '1m', queue: null }],
    ['a workflow that has no name', { every: '1m', document: undefined, workflow: {} }]
  ])('is refused as one: %s', async (_, given) => {
    const options = { name: 'bad', document, ...given } as unknown as ScheduleOptions
    const code = 'runtime.invalid_schedule'
    await expect(tally.schedule(options)).rejects.toMatchObject({ code })
  })

  it('is none for as many tags as its runs can have beside their own', async () => {
    const full = {
      name: 'full',
      document,
      every: '1m',
      tags: tags(limits.RUN_TAGS_MAX - 1)
    } as const
    expect(await tally.schedule(full)).toMatchObject({ type: 'dapp' })
    await clock.advance(60_000)
    expect(await problems()).toEqual({ full: true })
    expect((await tally.runs({ tag: 'tag-0' })).items.length).toBe(1)
  })
})
