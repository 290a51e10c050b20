import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import type { WiredRuntime } from '../../src/runtime/runtime.js'
import { Machine, openOn, until, type World } from '../support/lives.js'

const runs = process.env['SOAK'] === '1' ? 300 : 8

/** What one client wants done: it sees all keys, and may put its name under some. */
interface Operation {
  readonly puts: readonly string[]
  /** Lets others in between seeing and putting. */
  readonly slow: boolean
}

const keys = ['a', 'b'] as const

const blocks = (world: World) => [
  defineBlock({
    name: 'register',
    version: '1.0.0',
    sideEffects: 'none',
    intents: ['register.put'],
    run: async (ctx, input) => {
      const { id, puts, slow } = input as unknown as Operation & { readonly id: string }
      const seen = keys.map((key) => ctx.state.get<string>(`r/${key}`) ?? null)
      if (slow) await ctx.effect('look', { request: id, perform: (call) => world.look(call) })
      for (const key of puts) ctx.state.set(`r/${key}`, id)
      return { by: id, seen }
    }
  })
]

/** An operation as its client knows it: turns of a clock that no crash stops. */
interface Known {
  readonly id: string
  readonly asked: number
  told?: { readonly at: number; readonly seen: Json }
}

/** Clients that each do one thing after the other, and ask again with the same id after a death. */
class Clients {
  readonly known = new Map<string, Known>()
  #turn = 0

  /** Rejects or never ends when the process dies. */
  async work(tally: WiredRuntime, plans: readonly (readonly Operation[])[]): Promise<void> {
    await Promise.all(
      plans.map(async (plan, client) => {
        for (const [place, operation] of plan.entries()) {
          await this.#do(tally, `c${client}-${place}`, operation)
        }
      })
    )
  }

  async #do(tally: WiredRuntime, id: string, operation: Operation): Promise<void> {
    const known = this.known.get(id) ?? { id, asked: this.#turn++ }
    this.known.set(id, known)
    if (known.told !== undefined) return
    const payload = { id, ...operation, puts: [...operation.puts] }
    const reply = await tally.intent({ id, action: 'register.put', payload })
    expect(reply).toMatchObject({ type: 'dapp', id })
    const { seen } = reply as unknown as { readonly seen: Json }
    known.told = { at: this.#turn++, seen }
  }
}

/** Whether receipts, in their order, are a history that the clients can have seen. */
async function expectLinear(
  tally: WiredRuntime,
  clients: Clients,
  plans: readonly (readonly Operation[])[]
): Promise<void> {
  const values = new Map<string, string>()
  const done: Known[] = []
  for await (const { receipt, resultText } of tally.receipts()) {
    const { id, puts } = receipt.inputPayload.payload as unknown as Operation & { id: string }
    const known = clients.known.get(id)
    const { seen } = JSON.parse(resultText ?? 'null')
    // What it saw is what was put last, and what its client got.
    expect(seen, id).toEqual(keys.map((key) => values.get(key) ?? null))
    expect(known?.told?.seen, id).toEqual(seen)
    for (const key of puts) values.set(key, id)
    if (known !== undefined) done.push(known)
  }
  // Each once, and none before one that was acknowledged before it was asked for.
  expect(new Set(done).size).toBe(done.length)
  expect(done).toHaveLength(plans.flat().length)
  for (const [place, one] of done.entries()) {
    for (const later of done.slice(place)) {
      expect(later.told?.at ?? 0, `${later.id} before ${one.id}`).toBeGreaterThan(one.asked)
    }
  }
}

const operation: fc.Arbitrary<Operation> = fc.record({
  puts: fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 2 }),
  slow: fc.boolean()
})
const plansOfClients = fc.array(fc.array(operation, { minLength: 1, maxLength: 3 }), {
  minLength: 2,
  maxLength: 4
})
const deaths = fc.array(fc.integer({ min: 2, max: 30 }), { maxLength: 3 })

async function live(
  machine: Machine,
  clients: Clients,
  plans: readonly (readonly Operation[])[],
  dieAt?: number
): Promise<boolean> {
  const { life, store } = machine.begin(dieAt)
  const registrations = { blocks: blocks(machine.world) }
  let end: { readonly error?: unknown } | undefined
  let tally: WiredRuntime | undefined
  const work = async () => {
    tally = await openOn(store, { ...registrations, clock: life.clock(machine.clock) })
    await tally.resumeAll()
    await clients.work(tally, plans)
  }
  work().then(
    () => {
      end = {}
    },
    (error: unknown) => {
      end = { error }
    }
  )
  await until(() => life.isDead || end !== undefined)
  if (life.isDead) return false
  if (end?.error !== undefined) throw end.error
  if (tally === undefined) return false
  await expectLinear(tally, clients, plans)
  expect((await tally.verify()).failure).toBeUndefined()
  await tally.close().catch(() => undefined)
  return true
}

describe('intents on the same keys, with crashes', () => {
  it('L10, L6: are linearisable, in the order of their receipts', async () => {
    await fc.assert(
      fc.asyncProperty(plansOfClients, deaths, async (plans, dies) => {
        const machine = new Machine()
        const clients = new Clients()
        let isDone = false
        for (const at of [...dies, undefined]) {
          isDone = await live(machine, clients, plans, at)
          if (isDone) break
        }
        expect(isDone).toBe(true)
      }),
      { numRuns: runs }
    )
  })
})
