/** Runs a loop with every step durable, and kills its own process in the middle of it. */
import { createRuntime } from '../../src/runtime/index.js'
import { countingBlock, endBlock, loopDocument } from '../loop.js'

const [location = '', steps = '0', killAt = '0'] = process.argv.slice(2)
let executed = 0
const block = countingBlock(() => {
  executed += 1
  if (executed > Number(killAt)) process.kill(process.pid, 'SIGKILL')
})
const tally = await createRuntime({
  location,
  create: 'if-absent',
  insecurePlaintextKey: true,
  durability: 'step',
  blocks: [block, endBlock],
  conditions: { 'goes-on': ({ data }) => Number(data) < Number(steps) }
})
await tally.begin(loopDocument(Number(steps)), { id: 'loop' }).result
