/**
 * Simulates a workflow of three steps and prints the seconds of processor time that the counted
 * seeds took, other threads included: `node simulated-seeds.js FIRST_SEED WARMING SEEDS`.
 */
import { simulate } from '../../src/testing/index.js'
import { shopEffects as effects, threeSteps } from '../simulated-shop.js'

const [first = 1, warming = 0, seeds = 1] = process.argv.slice(2).map(Number)
const simulated = { nodes: { shop: { target: threeSteps(), runs: [{}] } }, effects }
let before = process.cpuUsage()
for (let done = 0; done < warming + seeds; done += 1) {
  if (done === warming) before = process.cpuUsage()
  await simulate({ ...simulated, seed: first + done })
}
const { user, system } = process.cpuUsage(before)
process.stdout.write(String((user + system) / 1_000_000))
