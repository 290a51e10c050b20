import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  createRuntime,
  defineBlock,
  defineWorkflow,
  type WorkflowContext
} from '../../src/index.js'
import { cases, testMs } from '../support/effort.js'
import { note } from '../support/note.js'
import { runScenario } from '../support/run-to-end.js'

/** B12, D3: promises of its own that code passes through before a call change nothing of it. */

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
      await pass(ticks)
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

it('B12: code that passes through promises of its own before its calls ends, and verifies', async () => {
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
    { numRuns: cases({ usual: 20, long: 125, soak: 2_000 }) }
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

type Act = 'answer' | 'fail' | 'forget' | 'race' | 'state'
type Lanes = readonly (readonly {
  readonly act: Act
  readonly kind: Kind
  readonly ticks: number
}[])[]

const kinds = ['read', 'write', 'sleep', 'signal', 'scope', 'child'] as const
type Kind = (typeof kinds)[number]

interface Asks {
  ask(kind: Kind, name: string): Promise<unknown>
  note(name: string): void
}

async function pass(ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick += 1) await undefined
}

async function failed(asked: Promise<unknown>): Promise<never> {
  await asked
  throw new Error('it fails then')
}

/** Lanes that run beside each other, each act behind promises of its own. */
async function inLanes(
  lanes: Lanes,
  { ask: askFor, note: noted }: Asks
): Promise<readonly string[]> {
  const order: string[] = []
  const lane = async (acts: Lanes[number], at: number) => {
    for (const [place, { act, kind, ticks }] of acts.entries()) {
      const name = `lane-${at}-${place}`
      const ask = () => askFor(kind, name)
      await pass(ticks)
      if (act === 'state') noted(name)
      else if (act === 'forget') ask().catch(() => undefined)
      else if (act === 'answer') await ask()
      else if (act === 'fail') await failed(ask())
      else {
        const asked = ask().then(() => 'answer')
        order.push(await Promise.race([asked, pass(ticks).then(() => 'own')]))
      }
      order.push(name)
    }
  }
  await Promise.all(lanes.map(lane))
  return order
}

const racing = defineBlock({
  name: 'racing',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: (ctx, lanes: Lanes) =>
    inLanes(lanes, {
      ask: (kind, name) => {
        if (kind === 'sleep') return ctx.sleep(1)
        if (kind === 'signal') return ctx.signal('go')
        const sideEffects = kind === 'read' ? 'none' : 'idempotent'
        return ctx.effect(name, { request: name, sideEffects, perform: async () => name })
      },
      note: (name) => ctx.state.set(name, name)
    })
})

const racingFlow = defineWorkflow({
  name: 'flow.racing',
  version: '1.0.0',
  blocks: [note],
  run: (ctx, lanes: Lanes) =>
    inLanes(lanes, {
      ask: (kind, name) => {
        if (kind === 'sleep') return ctx.sleep(1)
        if (kind === 'signal') return ctx.signal('go')
        if (kind === 'child') return ctx.child(leg, null, { id: `${ctx.runId}-${name}` })
        if (kind === 'scope') {
          return ctx.atomic(name, (scope) => {
            scope.step('forgotten', note, `${name}-forgotten`).catch(() => undefined)
            return scope.step('note', note, name)
          })
        }
        return ctx.step(name, () => name, null, kind === 'read' ? { sideEffects: 'none' } : {})
      },
      note: () => undefined
    })
})

const document = {
  schema: 'tally-composite/1',
  name: 'races',
  version: '1.0.0',
  entry_point: 'racing',
  nodes: { racing: { block: 'racing', input: { ref: 'request.payload' } } }
}

const lanesOf: fc.Arbitrary<Lanes> = fc.array(
  fc.array(
    fc.record({
      act: fc.constantFrom<Act>('answer', 'answer', 'answer', 'race', 'state', 'forget', 'fail'),
      kind: fc.constantFrom(...kinds),
      ticks: fc.integer({ min: 0, max: 30 })
    }),
    { minLength: 1, maxLength: 4 }
  ),
  { minLength: 1, maxLength: 4 }
)

it('D3: code that races answers with promises of its own does as it does when it runs again', {
  timeout: testMs(600_000)
}, async () => {
  await fc.assert(
    fc.asyncProperty(lanesOf, async (lanes) => {
      await using tally = await createRuntime({
        location: 'memory:',
        create: 'if-absent',
        insecurePlaintextKey: true,
        blocks: [racing, note],
        workflows: [racingFlow, leg]
      })
      for (const id of ['one', 'two']) {
        const block = tally.begin(document, { id: `block-${id}`, inputs: lanes as never })
        const flow = tally.begin(racingFlow, lanes, { id: `flow-${id}` })
        for (let sent = 0; sent < lanes.flat().length; sent += 1) {
          await Promise.all([tally.signal(block.id, 'go'), tally.signal(flow.id, 'go')])
        }
        await Promise.all([block.result, flow.result])
      }
      const report = await tally.verify()
      expect(report.failure).toBeUndefined()
      expect(report).toMatchObject({ ok: true, complete: true })
    }),
    { numRuns: cases({ usual: 20, long: 125, soak: 2_000 }) }
  )
})

it('D3, D6: so it does where its process dies on the way', {
  timeout: testMs(600_000)
}, async () => {
  const deaths = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 2 })
  await fc.assert(
    fc.asyncProperty(lanesOf, deaths, fc.boolean(), async (given, dies, isFunction) => {
      // The drive of the machine knows of one run only.
      const lanes = given.map((acts) => acts.filter(({ kind }) => kind !== 'child'))
      // Verifies what is left in the end, with what the process had in memory and without.
      const { result } = await runScenario(
        {
          document,
          inputs: lanes as never,
          registrations: () => ({ blocks: [racing, note], workflows: [racingFlow] }),
          ...(isFunction ? { workflow: racingFlow.name } : {})
        },
        dies
      )
      expect(result.status).toMatch(/^(done|failed)$/)
    }),
    { numRuns: cases({ usual: 20, long: 100, soak: 2_000 }) }
  )
})
