import { defineBlock } from '../../src/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../src/runtime/index.js'
import { openTelemetry } from '../../src/telemetry/index.js'
import { droppedSpans } from '../dropped-spans.js'
import { Engine } from '../engine.js'
import { type Contender, type Measured, measured, median, Scratch } from '../measure.js'
import type { Group, Row } from '../row.js'

const WIDTH = 64
const STEPS_A_ROUND = 100
const PAGE = 200
const ENTRIES_A_STEP = 3

/** What a console asks of a ledger, in processor time, and what looking costs it. */
export const consoleGroup: Group = {
  rows: [
    'console.runs',
    'console.log',
    'console.chart',
    'console.chart-at',
    'console.chart-at.next',
    'console.chart-at.1000',
    'console.calls',
    'console.feed',
    'console.looking',
    'telemetry.step'
  ],
  async measure({ full, rounds }) {
    return [
      ...(await lists(full ? 10_000 : 1_000, rounds)),
      ...(await pictures(full ? 10_000 : 2_000)),
      await looking(rounds),
      await telemetry(rounds)
    ]
  }
}

/** Processor time of all threads, milliseconds. */
async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

async function medianCpuMs(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = []
  await work()
  for (let round = 0; round < rounds; round += 1) taken.push(await cpuMs(work))
  return median(taken)
}

/** Pages of a ledger with so many runs of eleven receipts each. */
async function lists(runs: number, rounds: number): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const engine = await Engine.open({
    path: scratch.directory(),
    durability: 'output',
    stateKeys: 0
  })
  await engine.workflows(runs, WIDTH)
  const { queries } = engine.runtime
  const rows = [
    atMost('console.runs', await medianCpuMs(rounds, () => queries.find({ limit: PAGE })), 30),
    atMost('console.log', await medianCpuMs(rounds, () => queries.log({ limit: PAGE })), 30),
    await feed(engine)
  ]
  await engine.close()
  scratch.remove()
  return rows
}

/** How many events of a second a reader of the feed is given. */
async function feed(engine: Engine): Promise<Row> {
  const events = engine.runtime.queries.feed()[Symbol.asyncIterator]()
  const first = events.next()
  const steps = await engine.workflows(STEPS_A_ROUND, WIDTH)
  await first
  let count = 1
  const taken = await cpuMs(async () => {
    // Each step is an entry and a receipt.
    while (count < steps) {
      await events.next()
      count += 1
    }
  })
  await events.return?.()
  const value = (count * 1_000) / taken
  const target = 1_000
  const common = { floor: null, ratio: null, target, better: 'higher' as const }
  return { name: 'console.feed', value, unit: 'events/s', ...common }
}

const sending = defineBlock({
  name: 'bench.send',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: (ctx) => ctx.effect('bench.send', { request: { n: 1 }, perform: () => ({ n: 1 }) })
})

/** The picture of a run of so many entries, first and after one more step back, and its calls. */
async function pictures(entries: number): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const location = scratch.directory()
  const options = {
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    blocks: [sending]
  } as const
  const written = await createRuntime(options)
  const max_steps = Math.floor(entries / ENTRIES_A_STEP)
  await written.begin(loopOf(max_steps), { id: 'long', inputs: {} }).result
  await written.close()
  const looking = await createRuntime(options)
  const early = await cpuMs(() => looking.queries.chartAt({ id: 'long', entry: 1_000 }))
  await looking.close()
  const tally = await createRuntime(options)
  const { queries } = tally
  const chart = await cpuMs(() => queries.chart({ id: 'long' }))
  const first = await cpuMs(() => queries.chartAt({ id: 'long' }))
  const next = await cpuMs(() => queries.chartAt({ id: 'long', entry: entries >> 1 }))
  const calls = await cpuMs(() => queries.calls({ id: 'long', path: 'root/a', step: 1 }))
  await tally.close()
  scratch.remove()
  return [
    // All that the page asks of a run that has ended: its last moment needs no fold.
    atMost('console.chart', chart, 50),
    atMost('console.chart-at', chart + first, 50),
    atMost('console.chart-at.next', next, 50),
    atMost('console.chart-at.1000', early, 50),
    { ...atMost('console.calls', calls, 0), target: null }
  ]
}

/** Two nodes that lead to each other, until it has had as many steps as it may. */
function loopOf(max_steps: number) {
  return {
    schema: 'tally-composite/1',
    name: 'bench.loop',
    version: '1.0.0',
    entry_point: 'a',
    max_steps,
    nodes: { a: { block: sending.name }, b: { block: sending.name } },
    transitions: { a: 'b', b: 'a' }
  }
}

/** Processor time of steps while a console follows, against without. */
async function looking(rounds: number): Promise<Row> {
  const scratch = new Scratch()
  const opened = async (name: string, isFollowed: boolean): Promise<Contender> => {
    const path = scratch.directory()
    const engine = await Engine.open({ path, durability: 'output', stateKeys: 0 })
    const end = isFollowed ? follow(engine.runtime) : () => undefined
    return {
      name,
      run: () => engine.workflows(STEPS_A_ROUND, WIDTH),
      close: async () => {
        end()
        await engine.close()
      }
    }
  }
  const all = await measured(
    [await opened('alone', false), await opened('followed', true)],
    rounds * 3
  )
  scratch.remove()
  return cost('console.looking', all, { of: 'followed', target: 1.02 })
}

/** As the page does: it asks for what it shows whenever something has changed. */
function follow({ queries }: WiredRuntime): () => void {
  const events = queries.feed({ paceMs: 1_000 })[Symbol.asyncIterator]()
  const read = async () => {
    while ((await events.next()).done !== true) {
      await queries.find({ limit: PAGE })
      await queries.waits({ limit: 99 })
    }
  }
  void read()
  return () => void events.return?.()
}

/** Processor time of a step with spans of the SDK that go nowhere, against without telemetry. */
async function telemetry(rounds: number): Promise<Row> {
  const step = defineBlock({
    name: 'bench.step',
    version: '1.0.0',
    sideEffects: 'none',
    run: (_ctx, input) => input as never
  })
  const document = {
    ...loopOf(STEPS_A_ROUND),
    nodes: { a: { block: step.name }, b: { block: step.name } }
  }
  const opened = async (name: string, isOn: boolean): Promise<Contender> => {
    const runtime = await createRuntime({
      location: MEMORY_LOCATION,
      blocks: [step],
      ...(isOn ? { telemetry: openTelemetry(droppedSpans) } : {})
    })
    return {
      name,
      run: async () => {
        for (let run = 0; run < 10; run += 1) await runtime.begin(document, { inputs: {} }).result
        return STEPS_A_ROUND * 10
      },
      close: () => runtime.close()
    }
  }
  const all = await measured(
    [await opened('alone', false), await opened('traced', true)],
    rounds * 3
  )
  return cost('telemetry.step', all, { of: 'traced', target: 1.1 })
}

function cost(
  name: string,
  all: ReadonlyMap<string, Measured>,
  { of, target }: { readonly of: string; readonly target: number }
): Row {
  const value = all.get(of)?.cpuUs ?? Number.NaN
  const floor = all.get('alone')?.cpuUs ?? Number.NaN
  return { name, value, unit: 'us/step', floor, ratio: value / floor, target, better: 'lower' }
}

function atMost(name: string, value: number, target: number): Row {
  return { name, value, unit: 'ms', floor: null, ratio: null, target, better: 'lower' }
}
