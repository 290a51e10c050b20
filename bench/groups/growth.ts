import { elapsedMs, type Json } from '../../src/core/index.js'
import { defineBlock } from '../../src/index.js'
import { hashKey, hashValue, StateTree } from '../../src/ledger/state/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../src/runtime/index.js'
import { Engine } from '../engine.js'
import { stateKey } from '../floor.js'
import { type Contender, interleaved, median, rateOf, Scratch } from '../measure.js'
import type { Group, Row } from '../row.js'

const WIDTH = 64
const ROUND_WORKFLOWS = 100
const SMALL = 1_000
const RECEIPTS_OF_WORKFLOW = 11
const ROOTS = 2_000

/** Cost of a step as chain, state and graph grow. */
export const growth: Group = {
  rows: ['growth.chain', 'growth.state', 'growth.graph', 'state-root'],
  async measure({ full, rounds }) {
    const large = full ? 100_000 : 20_000
    return [
      await chain(large, rounds),
      await state(large, rounds),
      await graph(full ? 4_000 : 2_000, rounds),
      stateRoot(full ? 100_000 : 20_000)
    ]
  }
}

async function chain(large: number, rounds: number): Promise<Row> {
  const scratch = new Scratch()
  const grown = async (name: string, receipts: number): Promise<Contender> => {
    const path = scratch.directory()
    const engine = await Engine.open({ path, durability: 'output', stateKeys: 0 })
    await engine.workflows(Math.ceil(receipts / RECEIPTS_OF_WORKFLOW), WIDTH)
    return contender(name, engine)
  }
  const rates = await interleaved(
    [await grown('small', SMALL), await grown('large', large)],
    rounds * 2
  )
  scratch.remove()
  return factor('growth.chain', rates, 1.2)
}

async function state(large: number, rounds: number): Promise<Row> {
  const scratch = new Scratch()
  const grown = async (name: string, stateKeys: number): Promise<Contender> => {
    const path = scratch.directory()
    return contender(name, await Engine.open({ path, durability: 'output', stateKeys }))
  }
  const rates = await interleaved(
    [await grown('small', SMALL), await grown('large', large)],
    rounds * 2
  )
  scratch.remove()
  return factor('growth.state', rates, 1.5)
}

const SMALL_GRAPH = 200

const passing = defineBlock<Json, Json>({
  name: 'bench.pass',
  version: '1.0.0',
  sideEffects: 'none',
  run: (_ctx, input) => input
})

/** Graphs in which each node reads the one before it; as many steps with few nodes as with many. */
async function graph(large: number, rounds: number): Promise<Row> {
  const of = async (name: string, nodes: number): Promise<Contender> => {
    const runtime = await createRuntime({ location: MEMORY_LOCATION, blocks: [passing] })
    const document = chainOf(nodes)
    return {
      name,
      run: async () => {
        for (let done = 0; done < large; done += nodes) await finished(runtime, document)
        return large
      },
      close: () => runtime.close()
    }
  }
  const rates = await interleaved(
    [await of('small', SMALL_GRAPH), await of('large', large)],
    rounds
  )
  return factor('growth.graph', rates, 1.5)
}

async function finished(runtime: WiredRuntime, document: Json): Promise<void> {
  const { status } = await runtime.begin(document, { inputs: { n: 1 } }).result
  if (status !== 'done') throw new Error(`a run ended as ${status}`)
}

function chainOf(nodes: number): Json {
  const ids = Array.from({ length: nodes }, (_, index) => `s${index}`)
  const inputOf = (index: number): Json =>
    index === 0 ? {} : { input: { ref: `nodes.s${index - 1}.response.data` } }
  return {
    schema: 'tally-composite/1',
    name: 'bench.chain',
    version: '1.0.0',
    entry_point: 's0',
    max_steps: nodes,
    nodes: Object.fromEntries(
      ids.map((id, index) => [id, { block: passing.name, ...(inputOf(index) as object) }])
    ),
    transitions: Object.fromEntries(ids.slice(0, -1).map((id, index) => [id, `s${index + 1}`]))
  }
}

function contender(name: string, engine: Engine): Contender {
  return {
    name,
    run: () => engine.workflows(ROUND_WORKFLOWS, WIDTH),
    close: () => engine.close()
  }
}

/** Cost of a step on the large ledger over that on the small one. */
function factor(name: string, rates: ReadonlyMap<string, number>, target: number): Row {
  const small = rateOf(rates, 'small')
  const large = rateOf(rates, 'large')
  const ratio = small / large
  return { name, value: large, unit: 'steps/s', floor: small, ratio, target, better: 'lower' }
}

/** One changed key and the root after it. */
function stateRoot(keys: number): Row {
  let tree = StateTree.empty
  for (let index = 0; index < keys; index += 1) {
    tree = tree.set(hashKey(stateKey(index, keys)), hashValue('{"n":0}'))
  }
  tree.root()
  const costs: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const begin = elapsedMs()
    for (let index = 0; index < ROOTS; index += 1) {
      tree = tree.set(hashKey(stateKey(index * 31, keys)), hashValue(`{"n":${round}}`))
      tree.root()
    }
    costs.push(((elapsedMs() - begin) * 1_000) / ROOTS)
  }
  return {
    name: 'state-root',
    value: median(costs),
    unit: 'us/change',
    floor: null,
    ratio: null,
    target: 80,
    better: 'lower'
  }
}
