/**
 * Compiles a plan of 1,000 nodes in a process that has compiled none before, with the build in a
 * directory, and reports the processor time in ms: of loading and opening, of a plan of one node,
 * which loads what reads documents, and of the large plan.
 */
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Rooms from '../../src/index.js'

const NODES = 1_000

const [build = ''] = process.argv.slice(2)
const rooms = pathToFileURL(join(resolve(build), 'dist', 'src', 'index.js'))
const nodes = Array.from({ length: NODES }, (_, index) => {
  const before = `n${(index - 1) >> 1}`
  return index === 0
    ? { id: 'n0', block: 'step', deps: [], input: { lit: 0 } }
    : { id: `n${index}`, block: 'step', deps: [before], input: { ref: `nodes.${before}.response` } }
})
const plan = { schema: 'tally-plan/1', version: '1.0.0' }

const { createRuntime, defineBlock } = (await import(rooms.href)) as typeof Rooms
const step = defineBlock({ name: 'step', version: '1.0.0', sideEffects: 'none', run: () => null })
const tally = await createRuntime({ location: 'memory:', blocks: [step] })
const opening = processorMs()
await tally.lint({ ...plan, name: 'small', nodes: nodes.slice(0, 1) })
const small = processorMs()
await tally.lint({ ...plan, name: 'large', nodes })
const large = processorMs()
process.stdout.write(
  `${JSON.stringify({ opening, small: small - opening, large: large - small })}\n`
)
await tally.close()

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return Math.round((user + system) / 1_000)
}
