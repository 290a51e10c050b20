/** Prints the receipts of one run with fixed keys, clock and chance: the same bytes everywhere. */

import { generateIdentity } from '../../../dist/src/identity/index.js'
import { createRuntime, defineBlock } from '../../../dist/src/index.js'

const random = { bytes: (length) => new Uint8Array(length).fill(5), uuid: () => 'fixed' }
const clock = { now: () => 1_700_000_000_000, schedule: () => () => undefined }
const block = defineBlock({
  name: 'curious',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, input) => {
    const looked = await ctx.effect('look', { request: input, perform: () => ({ b: 1, a: [2] }) })
    ctx.state.set('looked', looked)
    return { input, now: ctx.now(), random: ctx.random(), uuid: ctx.uuid() }
  }
})
const runtime = await createRuntime({
  location: 'memory:',
  keys: generateIdentity(random),
  clock,
  random,
  blocks: [block]
})
const document = {
  schema: 'tally-composite/1',
  name: 'printing',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'curious' }, b: { block: 'curious' } },
  transitions: { a: [{ condition: { cel: '"I".size() == 1' }, target: 'b' }] }
}
await runtime.begin(document, { id: 'r', inputs: { i: 'I', d: '2024-03-10' } }).result
for await (const { text } of runtime.receipts()) console.log(text)
await runtime.close()
