import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { builtModule } from '../../../support/built.js'
import { cases } from '../../../support/effort.js'

/** Intents that each identity is asked at once. */
const INTENTS = cases({ usual: 6, long: 11 })

const program = `
  import { readdirSync } from 'node:fs'
  import { defineBlock } from ${JSON.stringify(builtModule('index.js'))}
  import { createRuntime } from ${JSON.stringify(builtModule('runtime/index.js'))}
  const block = defineBlock({
    name: 'count.up',
    version: '1.0.0',
    sideEffects: 'none',
    intents: ['count.up'],
    run: (_, { payload }) => payload
  })
  const work = async (tally) => {
    const asked = Array.from({ length: ${INTENTS} }, (_, count) =>
      tally.intent({ action: 'count.up', payload: { count } }))
    await Promise.all(asked)
  }
  const open = async () => {
    const tally = await createRuntime({ location: 'memory:', blocks: [block] })
    await work(tally)
    return tally
  }
  const threads = () => process.platform === 'linux' ? readdirSync('/proc/self/task').length : 0
  const first = await open()
  const before = { threads: threads(), bytes: process.memoryUsage().rss }
  const all = [first]
  while (all.length <= 100) all.push(await open())
  await Promise.all(all.map(work))
  const after = { threads: threads(), bytes: process.memoryUsage().rss }
  let verified = 0
  for (const tally of all) if ((await tally.verify()).ok) verified += 1
  await Promise.all(all.map((tally) => tally.close()))
  const identities = new Set(all.map(({ identity }) => identity)).size
  const bytes = (after.bytes - before.bytes) / 100
  const more = after.threads - before.threads
  console.log(JSON.stringify({ identities, verified, threads: more, bytes }))
`

it('100 identities of a process that have signed share one thread, with a few MB for each', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 120_000
  })
  const { bytes, threads, ...counts } = JSON.parse(output)
  expect(counts).toEqual({ identities: 101, verified: 101 })
  // A hundred, and 9.4 MB, when each had a thread of its own; Node starts some late.
  expect(threads).toBeLessThan(10)
  expect(bytes).toBeLessThan(4e6)
})
