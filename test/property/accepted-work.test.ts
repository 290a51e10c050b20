import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRuntime } from '../../src/runtime/index.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'

const worker = fileURLToPath(new URL('accepted-work/worker.mjs', import.meta.url))
const library = builtModule('index.js')

interface Answer {
  readonly status: number
  readonly isNew?: boolean
}

/** A service that is killed at the given answer, and what it has answered by then. */
async function life(location: string, orders: readonly string[], killedAt: number) {
  const child = spawn(process.execPath, [worker, JSON.stringify({ library, location })], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const closed = once(child, 'close')
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string]
  const answers = new Map<string, Answer>()
  const post = async (id: string) => {
    const item = id.startsWith('slow') ? 'slow' : 'lamp'
    const sent = { method: 'POST', body: JSON.stringify({ item }) }
    const response = await fetch(`http://127.0.0.1:${port}/${id}`, sent)
    const { isNew } = (await response.json()) as { readonly isNew?: boolean }
    answers.set(id, { status: response.status, ...(isNew === undefined ? {} : { isNew }) })
    if (answers.size >= killedAt) child.kill('SIGKILL')
  }
  await Promise.allSettled(orders.map(post))
  child.kill('SIGKILL')
  expect(await closed).toEqual([null, 'SIGKILL'])
  return answers
}

it('L6, D2: what was accepted outlives a kill, and is accepted once', async () => {
  const orders = fc.uniqueArray(
    fc.tuple(fc.constantFrom('slow', 'fast'), fc.nat(40)).map(([kind, n]) => `${kind}-${n}`),
    { minLength: 1, maxLength: 20 }
  )
  const lives = fc.array(fc.record({ orders, killedAt: fc.integer({ min: 1, max: 20 }) }), {
    minLength: 2,
    maxLength: 3
  })
  await fc.assert(
    fc.asyncProperty(lives, async (given) => {
      const folder = await mkdtemp(join(tmpdir(), 'tally-accepted-'))
      const location = join(folder, 'ledger')
      const accepted = new Set<string>()
      for (const { orders: ids, killedAt } of given) {
        const answers = await life(location, ids, killedAt)
        for (const [id, { status, isNew }] of answers) {
          expect({ id, status }).toEqual({ id, status: 202 })
          // A start of an earlier life that was not acknowledged may be there all the same.
          if (accepted.has(id)) expect({ id, isNew }).toEqual({ id, isNew: false })
          accepted.add(id)
        }
      }
      const tally = await createRuntime({ location, serve: false })
      for (const id of accepted) expect({ id, run: tally.run(id)?.runId }).toEqual({ id, run: id })
      await tally.close()
      await rm(folder, { recursive: true, force: true })
    }),
    { numRuns: cases({ usual: 1, long: 3, soak: 100 }) }
  )
})
