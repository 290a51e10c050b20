/**
 * Prints what seeds leave: `node simulate-seed.mjs URL_OF_INDEX SEED...`. For each its trace, and
 * the error with which it fails when nothing may be paid.
 */
import { options, paysNothing } from './simulated-plain.mjs'

const [index, ...seeds] = process.argv.slice(2)
const { defineBlock } = await import(index)
const { simulate } = await import(new URL('./testing/index.js', index).href)
const played = {}
// The last one first: what was simulated before changes nothing.
for (const seed of seeds.toReversed()) {
  const given = { ...options({ defineBlock }), seed: Number(seed) }
  const { trace } = await simulate(given)
  const failure = await simulate({ ...given, always: paysNothing }).catch(({ message }) => message)
  played[seed] = { trace, failure: typeof failure === 'string' ? failure : 'none' }
}
process.stdout.write(JSON.stringify(played))
