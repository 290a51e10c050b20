import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  createRuntime,
  defineBlock,
  defineWorkflow,
  type WorkflowContext
} from '../../src/index.js'
import { cases } from '../support/effort.js'

/** B12, D3: promises of its own that code passes through before a call change nothing of it. */

const note = defineBlock({
  name: 'note',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, key: string) => {
    ctx.state.set(key, 'noted')
    return key
  }
})

const leg = defineWorkflow({
  name: 'leg',
  version: '1.0.0',
  run: async (ctx) => ctx.step('walk', () => 'walked')
})

const calls = {
  step: (ctx, name) => ctx.step(name, () => name),
  read: (ctx, name) => ctx.step(name, () => name, null, { sideEffects: 'none' }),
  queued: (ctx, name) => ctx.step(name, () => name, null, { queue: { name: 'desk' } }),
  block: (ctx, name) => ctx.step(name, note, name),
  all: (ctx, name) => ctx.all([ctx.step(`${name}-a`, () => 1), ctx.step(`${name}-b`, note, name)]),
  race: (ctx, name) => ctx.race([ctx.step(`${name}-a`, () => 1), ctx.sleep('1h')]),
  sleep: (ctx) => ctx.sleep(1),
  signal: (ctx) => ctx.signal('go'),
  atomic: (ctx, name) => ctx.atomic(name, (scope) => scope.step('note', note, name)),
  child: (ctx, name) => ctx.child(leg, null, { id: `${ctx.runId}-${name}` }),
  publish: (ctx, name) => ctx.publish('at', name),
  tags: (ctx, name) => ctx.setTags([name])
} satisfies Record<string, (ctx: WorkflowContext, name: string) => Promise<unknown>>

const isCall = (name: string): name is keyof typeof calls => name in calls

interface Part {
  readonly call: string
  readonly ticks: number
}

/** Does its parts in turn, each behind so many promises of its own. */
const flow = defineWorkflow({
  name: 'flow',
  version: '1.0.0',
  blocks: [note],
  async run(ctx, parts: readonly Part[]) {
    for (const [place, { call, ticks }] of parts.entries()) {
      for (let tick = 0; tick < ticks; tick += 1) await undefined
      if (isCall(call)) await calls[call](ctx, `part-${place}`)
    }
    return parts.length
  }
})

const open = () =>
  createRuntime({
    location: 'memory:',
    create: 'if-absent',
    insecurePlaintextKey: true,
    blocks: [note],
    workflows: [flow, leg],
    queues: { desk: { concurrency: 1 } }
  })

const part = fc.record({
  call: fc.constantFrom(...Object.keys(calls)),
  ticks: fc.integer({ min: 0, max: 40 })
})

it('B12: code that passes through promises of its own before its calls ends, and verifies', {
  timeout: 120_000
}, async () => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (parts) => {
      await using tally = await open()
      count += 1
      const id = `run-${count}`
      const run = tally.begin(flow, parts, { id })
      for (let sent = 0; sent < parts.length; sent += 1) await tally.signal(id, 'go')
      expect(await run.result).toMatchObject({ status: 'done', response: { data: parts.length } })
      expect(await tally.verify()).toMatchObject({ ok: true, complete: true })
    }),
    { numRuns: cases({ usual: 60, long: 500 }) }
  )
})

const everyCall = Object.keys(calls).flatMap((call) =>
  [2, 3, 5, 8, 9, 13, 24].map((ticks) => ({ call, ticks }))
)

it.each(everyCall)('B12: begins with $call behind $ticks promises of its own', async (first) => {
  await using tally = await open()
  const id = 'run'
  const run = tally.begin(flow, [first], { id })
  if (first.call === 'signal') await tally.signal(id, 'go')
  expect(await run.result).toMatchObject({ status: 'done' })
})
