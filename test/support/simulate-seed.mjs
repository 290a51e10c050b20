/** Prints the traces of seeds: `node simulate-seed.mjs URL_OF_INDEX SEED...` */
import { options } from './simulated-plain.mjs'

const [index, ...seeds] = process.argv.slice(2)
const { defineBlock } = await import(index)
const { simulate } = await import(new URL('./testing/index.js', index).href)
const traces = []
for (const seed of seeds) {
  const { trace } = await simulate({ ...options({ defineBlock }), seed: Number(seed) })
  traces.push(trace)
}
process.stdout.write(JSON.stringify(traces))
