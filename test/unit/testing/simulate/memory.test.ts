import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { shopEffects, threeSteps } from '../../../../bench/simulated-shop.js'
import { nextTurn } from '../../../../src/core/index.js'
import { simulate } from '../../../../src/testing/index.js'

const SEEDS = 24

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
  await nextTurn()
  collect()
  await nextTurn()
  // What the target was last opened with stays: it is compiled once.
  expect(worlds.filter((world) => world.deref() !== undefined).length).toBeLessThanOrEqual(1)
})
