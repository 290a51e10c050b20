import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { shopEffects, threeSteps } from '../../../../bench/simulated-shop.js'
import { nextTurn } from '../../../../src/core/index.js'
import { simulate } from '../../../../src/testing/index.js'

const SEEDS = 24
const TURNS_MAX = 100

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

it('keeps nothing of a simulation that is over, whatever died in it', async () => {
  const worlds: WeakRef<object>[] = []
  const target = threeSteps()
  let lives = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const effects = () => {
      const own = { answer: () => ({ ordered: true }) }
      worlds.push(new WeakRef(own))
      return { ...shopEffects, 'shop.order': own }
    }
    const report = await simulate({ seed, nodes: { shop: { target, runs: [{}] } }, effects })
    lives += report.lives
  }
  expect(lives).toBeGreaterThan(SEEDS)
  const kept = () => worlds.filter((world) => world.deref() !== undefined).length
  // What the target was last opened with stays: it is compiled once.
  for (let turn = 0; turn < TURNS_MAX && kept() > 1; turn += 1) {
    await nextTurn()
    collect()
    await nextTurn()
  }
  expect(kept()).toBeLessThanOrEqual(1)
})
