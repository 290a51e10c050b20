import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { costlyGuests } from '../support/costly-guests.js'
import { cases } from '../support/effort.js'
import { runs, sandboxOfFile } from '../unit/capability/guest.js'

const { execute, result } = sandboxOfFile()

/** What bounds a guest by a count; the wall clock is no part of it. */
const counted = ['gas_exceeded', 'memory_exceeded', 'microtasks_exceeded', 'stack_exceeded']

/** Ticks of gas, of the 5,000 that a package may take. */
const gasTicks = cases({ usual: 10, long: 55 })

const quiet = new Map<string, unknown>()

async function outcomesInto(found: Map<string, unknown>, name: string): Promise<void> {
  const bundle = runs(costlyGuests[name] ?? '')
  found.set(name, await execute(bundle, { limits: { gasTicks } }))
}

/** X11: whatever a guest does, its end is a count, which no load of the machine can change. */
describe('a guest that takes as long as it may', () => {
  const names = Object.keys(costlyGuests)

  it.each(names)('X11: ends by a count: %s', async (name) => {
    await outcomesInto(quiet, name)
    const outcome = quiet.get(name)
    expect(outcome).toMatchObject({ kind: 'failed', isDeterministic: true })
    expect(counted).toContain((outcome as { readonly code: string }).code)
  })

  describe('beside threads that compute all the time', () => {
    const hogs: Worker[] = []

    beforeAll(() => {
      for (let hog = 0; hog < 2; hog += 1) hogs.push(new Worker('for (;;);', { eval: true }))
    })

    afterAll(async () => {
      await Promise.all(hogs.map((hog) => hog.terminate()))
    })

    // What bounds this is a count of steps, not a clock.
    const timeout = 600_000
    it('X11: ends in the same way, after the same gas', { timeout }, async () => {
      const loaded = new Map<string, unknown>()
      for (const name of names) await outcomesInto(loaded, name)
      expect(loaded).toEqual(quiet)
      expect(await result('return 1')).toBe(1)
    })
  })
})
