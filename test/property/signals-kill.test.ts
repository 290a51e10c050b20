import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRuntime, defineBlock } from '../../src/index.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'

const worker = fileURLToPath(new URL('signals-kill/worker.mjs', import.meta.url))
const library = builtModule('index.js')
const COUNT = 24

/** Sends items to a service that is killed at the given answer; those that it has accepted. */
async function life(location: string, items: readonly number[], killedAt: number) {
  const given = JSON.stringify({ library, location, count: COUNT })
  const child = spawn(process.execPath, [worker, given], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string]
  const accepted: number[] = []
  const post = async (item: number) => {
    const { status } = await fetch(`http://127.0.0.1:${port}/${item}`, { method: 'POST' })
    if (status !== 202) throw new Error(`${item} was answered with ${status}`)
    accepted.push(item)
    if (accepted.length >= killedAt) child.kill('SIGKILL')
  }
  await Promise.allSettled(items.map(post))
  child.kill('SIGKILL')
  expect(await closed).toEqual([null, 'SIGKILL'])
  return accepted
}

it('B3, W10, D2: a signal that was accepted outlives a kill, and is taken once', async () => {
  const items = fc.uniqueArray(fc.nat(COUNT - 1), { minLength: 1, maxLength: COUNT })
  const lives = fc.array(fc.record({ items, killedAt: fc.integer({ min: 1, max: COUNT }) }), {
    minLength: 2,
    maxLength: 3
  })
  await fc.assert(
    fc.asyncProperty(lives, async (given) => {
      const folder = await mkdtemp(join(tmpdir(), 'tally-signals-'))
      const location = join(folder, 'ledger')
      const accepted = new Set<number>()
      for (const one of given) {
        for (const item of await life(location, one.items, one.killedAt)) accepted.add(item)
      }
      const collect = defineBlock({
        name: 'collect',
        version: '1.0.0',
        sideEffects: 'none',
        run: async (ctx) => {
          const taken = []
          while (taken.length < COUNT) taken.push(await ctx.signal('item'))
          return taken
        }
      })
      const tally = await createRuntime({ location, serve: false, blocks: [collect] })
      for (const item of accepted) {
        const again = await tally.signal('order', 'item', item, { id: `${item}` })
        expect({ item, ...again }).toEqual({ item, accepted: true, repeated: true })
      }
      for (let item = 0; item < COUNT; item += 1) {
        expect(await tally.signal('order', 'item', item, { id: `${item}` })).toMatchObject({
          accepted: true
        })
      }
      const { response } = await (await tally.attach('order')).result
      const all = Array.from({ length: COUNT }, (_, item) => item)
      expect([...(response.data as readonly number[])].sort((a, b) => a - b)).toEqual(all)
      await tally.close()
      await rm(folder, { recursive: true, force: true })
    }),
    { numRuns: cases({ usual: 1, long: 3, soak: 100 }) }
  )
})
