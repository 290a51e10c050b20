import { elapsedMs } from '../../src/core/index.js'
import { hashKey, hashValue, StateTree } from '../../src/ledger/state/index.js'
import { Engine } from '../engine.js'
import { stateKey } from '../floor.js'
import { type Contender, interleaved, median, rateOf, Scratch } from '../measure.js'
import type { Group, Row } from '../row.js'

const WIDTH = 64
const ROUND_WORKFLOWS = 100
const SMALL = 1_000
const RECEIPTS_OF_WORKFLOW = 11
const ROOTS = 2_000

/** Cost of a step as chain and state grow. */
export const growth: Group = {
  rows: ['growth.chain', 'growth.state', 'state-root'],
  async measure({ full, rounds }) {
    const large = full ? 100_000 : 20_000
    return [
      await chain(large, rounds),
      await state(large, rounds),
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
