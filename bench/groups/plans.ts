import { elapsedMs, type Json } from '../../src/core/index.js'
import { defineBlock } from '../../src/index.js'
import { createRuntime, type WiredRuntime } from '../../src/runtime/index.js'
import { interleaved, median, rateOf, Scratch } from '../measure.js'
import { against, type BenchOptions, type Group, type Row, shown } from '../row.js'

const STEPS = 10
const WORKFLOWS = 60
const NODES = 1_000
const RUNS = 3

const pure = defineBlock({
  name: 'bench.step',
  version: '1.0.0',
  sideEffects: 'none',
  run: (_ctx, input) => input as Json
})
const polling = defineBlock({
  name: 'bench.poll',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    for (let poll = 0; poll < 3; poll += 1) await ctx.sleep(50)
    return null
  }
})

/**
 * Dependency graphs: a step of a plan against a step of a composite, and a plan of 1,000 nodes
 * compiled, run, verified, and asleep all at once.
 */
export const plans: Group = {
  rows: ['plan.step', 'plan.1000.compile', 'plan.1000.run', 'plan.1000.verify', 'plan.1000.polls'],
  async measure(options) {
    return [await stepRow(options), ...(await largeRows())]
  }
}

/** Ten steps in a row, as a plan and as a composite: what the engine adds is the difference. */
async function stepRow({ rounds }: BenchOptions): Promise<Row> {
  const scratch = new Scratch()
  const ids = Array.from({ length: STEPS }, (_, index) => `s${index}`)
  const composite = {
    schema: 'tally-composite/1',
    name: 'bench.workflow',
    version: '1.0.0',
    entry_point: 's0',
    nodes: Object.fromEntries(ids.map((id) => [id, { block: pure.name }])),
    transitions: Object.fromEntries(ids.slice(0, -1).map((id, index) => [id, `s${index + 1}`]))
  }
  const plan = planOf(
    ids.map((id, index) => ({ id, block: pure.name, deps: index === 0 ? [] : [`s${index - 1}`] })),
    { output: { lit: null } }
  )
  const contender = async (name: string, document: Json) => {
    const tally = await open(scratch)
    return {
      name,
      run: async () => {
        for (let run = 0; run < WORKFLOWS; run += 1) await done(tally, document)
        return WORKFLOWS * STEPS
      },
      close: () => tally.close()
    }
  }
  const rates = await interleaved(
    [await contender('composite', composite), await contender('plan', plan)],
    rounds
  )
  scratch.remove()
  // 1.5 times the cost of a composite's step at most.
  const floor = rateOf(rates, 'composite')
  return against('plan.step', rateOf(rates, 'plan'), { floor, target: 1 / 1.5 })
}

async function largeRows(): Promise<readonly Row[]> {
  const scratch = new Scratch()
  const ids = Array.from({ length: NODES }, (_, index) => `n${index}`)
  const compiles: number[] = []
  const runs: number[] = []
  const verifies: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const tally = await open(scratch)
    const tree = planOf(
      ids.map((id, index) => ({
        id,
        block: pure.name,
        deps: index === 0 ? [] : [`n${(index - 1) >> 1}`],
        input: index === 0 ? { lit: 0 } : { ref: `nodes.n${(index - 1) >> 1}.response.data` }
      }))
    )
    compiles.push(await timeOf(() => tally.lint(tree)))
    runs.push(await timeOf(() => done(tally, tree)))
    verifies.push(await timeOf(() => tally.verify()))
    await tally.close()
  }
  const tally = await open(scratch)
  const asleep = planOf(ids.map((id) => ({ id, block: polling.name })))
  const polls = await timeOf(() => done(tally, asleep))
  await tally.close()
  scratch.remove()
  return [
    bounded('plan.1000.compile', median(compiles), 200),
    bounded('plan.1000.run', median(runs), 1_000),
    shown('plan.1000.verify', median(verifies), 'ms', 'lower'),
    // Three times 50 ms of sleep for each of 1,000 nodes, all at once.
    shown('plan.1000.polls', polls, 'ms', 'lower')
  ]
}

function bounded(name: string, value: number, target: number): Row {
  return { name, value, unit: 'ms', floor: null, ratio: null, target, better: 'lower' }
}

function planOf(nodes: readonly Json[], more: { readonly output?: Json } = {}): Json {
  return {
    schema: 'tally-plan/1',
    name: 'bench.plan',
    version: '1.0.0',
    ...more,
    nodes: [...nodes]
  }
}

function open(scratch: Scratch): Promise<WiredRuntime> {
  return createRuntime({
    location: scratch.directory(),
    create: 'if-absent',
    insecurePlaintextKey: true,
    blocks: [pure, polling]
  })
}

async function done(tally: WiredRuntime, document: Json): Promise<void> {
  const { status } = await tally.begin(document, { inputs: { n: 1 } }).result
  if (status !== 'done') throw new Error(`the run ended as ${status}`)
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begin = elapsedMs()
  await work()
  return elapsedMs() - begin
}
