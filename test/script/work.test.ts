import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineWorkflow } from '../../src/code/index.js'
import { createRuntime, type WiredRuntime } from '../../src/runtime/index.js'
import { documentOf, Project } from '../support/project.js'

/** `tally queues` and `tally schedules`, whether a service holds the ledger or none does. */

const waits = defineWorkflow({
  name: 'waits',
  version: '1.0.0',
  run: (ctx, _input: null) => ctx.signal('go')
})

let project: Project
let tally: WiredRuntime
beforeAll(async () => {
  project = await Project.create()
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
  tally = await createRuntime({
    location: project.path('.tally'),
    insecurePlaintextKey: true,
    workflows: [waits],
    queues: { orders: { concurrency: 1, rate: { limit: 5, per: '1m' } } },
    schedules: [{ name: 'nightly', cron: '0 3 * * *', timeZone: 'Asia/Tokyo', workflow: waits }]
  })
  for (const id of ['one', 'two']) {
    const queue = { name: 'orders', partition: 'anna', priority: 3 }
    await tally.start(waits, null, { id, queue, tags: ['urgent'] })
  }
})
afterAll(async () => {
  await tally.close()
  await project.remove()
})

const asked = async (...words: readonly string[]) => project.tally([...words])

describe('a ledger that is held', () => {
  it('tells its queues, and what waits in one', async () => {
    const all = await asked('queues')
    expect(all.code).toBe(0)
    expect(all.stdout).toMatch(/orders +runs +1 running of 1 +1 waiting +5 in 60000 ms/)
    const one = await asked('queues', 'orders')
    expect(one.stdout).toMatch(/running +one +run +anna +priority 3/)
    expect(one.stdout).toMatch(/waiting +two +run +anna +priority 3/)
    const json = await asked('queues', 'orders', '--json')
    expect(documentOf(json, 'queue')).toMatchObject({ name: 'orders', running: 1, waiting: 1 })
  })

  it('finds runs by their queue and their tag', async () => {
    const queued = await asked('runs', '--queue', 'orders')
    expect(queued.stdout).toMatch(/two +\S+ +waits .* queued in orders/)
    expect(queued.stdout).not.toMatch(/^one /m)
    const tagged = await asked('runs', '--tag', 'urgent')
    expect(tagged.stdout.match(/^(one|two) /gm)?.length).toBe(2)
    expect((await asked('show', 'one')).stdout).toMatch(/^tags +urgent$/m)
    expect((await asked('runs', '--parent', 'one')).stdout).toBe('')
  })

  it('lists schedules, and pauses, resumes and removes one', async () => {
    const listed = await asked('schedules')
    expect(listed.stdout).toMatch(/nightly +0 3 \* \* \* Asia\/Tokyo +waits +next .* no run yet/)
    const times = await asked('schedules', 'nightly')
    expect(times.stdout.match(/^ {2}\d{4}-\d\d-\d\d 18:00:00$/gm)?.length).toBe(10)
    const usage = await asked('schedules', '--pause')
    expect(usage.code).toBe(2)
    expect((await asked('schedules', 'nightly', '--pause')).stdout).toContain('paused nightly')
    expect((await asked('schedules')).stdout).toMatch(/nightly .* paused/)
    expect((await asked('schedules', 'nightly', '--resume')).stdout).toContain('resumed nightly')
    const unknown = await asked('schedules', 'other', '--remove')
    expect(unknown.code).not.toBe(0)
    expect(unknown.stdout).toContain('refused')
  })
})

describe('a ledger that nothing holds', () => {
  it('tells what waits and what is scheduled all the same', async () => {
    await tally.close()
    const queues = await asked('queues', '--json')
    expect(documentOf(queues, 'queue')).toMatchObject({ name: 'orders', waiting: 1, running: 0 })
    expect((await asked('runs', '--queue', 'orders')).stdout).toContain('two')
    const schedules = await asked('schedules', '--json')
    expect(documentOf(schedules, 'schedule')).toMatchObject({ name: 'nightly', isPaused: false })
  })
})
