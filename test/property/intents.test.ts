import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import type { JsonObject } from '../../src/core/index.js'
import { Registry } from '../../src/runtime/code/registry.js'
import { createRuntime, type WiredRuntime } from '../../src/runtime/index.js'
import { WiredRuntime as Runtime } from '../../src/runtime/runtime.js'
import { cases } from '../support/effort.js'
import { openLedger } from '../support/ledgers.js'
import { inlineSigner, type Life, Machine, testKeys, until, type World } from '../support/lives.js'
import { counterPackage, PackageFolder } from '../support/packages.js'
import '../support/seed.js'

let folder: PackageFolder
let packageDirectory: string
beforeAll(async () => {
  folder = await PackageFolder.create()
  packageDirectory = await folder.write({
    ...counterPackage,
    code: `export async function run({ payload }, api) {
      const count = (api.storage.get(payload.key) ?? 0) + 1
      if (payload.slow) await api.contacts.read({})
      api.storage.set(payload.key, count)
      return { key: payload.key, count }
    }`,
    capabilities: ['contacts.read', 'storage.read', 'storage.write']
  })
})
afterAll(() => folder.remove())

/** Counts under a key, with something between reading and writing when it is slow. */
const trusted = defineBlock({
  name: 'counter',
  version: '1',
  sideEffects: 'none',
  intents: ['trusted.up'],
  run: async (ctx, input) => {
    const { key, slow } = input as { readonly key: string; readonly slow: boolean }
    const count = (ctx.state.get<number>(`trusted/${key}`) ?? 0) + 1
    if (slow) await ctx.effect('look', { sideEffects: 'none', perform: () => 'seen' })
    ctx.state.set(`trusted/${key}`, count)
    return { key, count }
  }
})

const capabilities = ['contacts.read', 'storage.read', 'storage.write']
const grant = { action: 'system.grant', payload: { package: 'counter', capabilities } } as const

/** Counts that each unit saw, in the order of the receipts, by what was counted. */
async function history(tally: WiredRuntime): Promise<ReadonlyMap<string, readonly number[]>> {
  const seen = new Map<string, number[]>()
  for await (const { receipt, resultText } of tally.receipts()) {
    if (!receipt.intent.endsWith('.up')) continue
    const { key, count } = JSON.parse(resultText ?? '{}') as { key: string; count: number }
    const counted = `${receipt.intent} ${key}`
    seen.set(counted, [...(seen.get(counted) ?? []), count])
  }
  return seen
}

describe('intents at once', () => {
  it('L10: each sees all before it and none after it; nothing is lost', async () => {
    const tally = await createRuntime({
      location: 'memory:',
      blocks: [trusted],
      packages: [packageDirectory]
    })
    await tally.intent(grant)
    const one = fc.record({
      action: fc.constantFrom('trusted.up', 'count.up'),
      key: fc.constantFrom('a', 'b'),
      slow: fc.boolean()
    })
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 2, maxLength: 12 }), async (all) => {
        const replies = await Promise.all(
          all.map(({ action, key, slow }) => tally.intent({ action, payload: { key, slow } }))
        )
        expect(replies.map(({ type }) => type)).toEqual(all.map(() => 'dapp'))
        for (const counts of (await history(tally)).values()) {
          expect(counts).toEqual(counts.map((_, index) => index + 1))
        }
      }),
      { numRuns: cases({ usual: 4, long: 6, soak: 60 }) }
    )
    const report = await tally.verify()
    expect(report.failure).toBeUndefined()
    await tally.close()
  })
})

/** The registrations of the world outside that survives a crash. */
const acting = (world: World) =>
  defineBlock({
    name: 'pay',
    version: '1',
    sideEffects: 'idempotent',
    intents: ['pay.once'],
    run: async (ctx, input) => {
      const done = await ctx.effect('pay', {
        request: input as JsonObject,
        perform: (call) => world.actOnce(call)
      })
      ctx.state.set('paid', done)
      return { done }
    }
  })

async function openLife(
  machine: Machine,
  location: string,
  dieAt?: number
): Promise<{ readonly life: Life; readonly tally: Runtime }> {
  const { life, store } = machine.begin(dieAt)
  const { identity, blobKey } = testKeys
  const signer = inlineSigner()
  const ledger = await openLedger({ store, identity, signer, blobKey, create: 'if-absent' })
  const close = async () => {
    await ledger.close()
    await store.close()
  }
  let uuids = 0
  const tally = new Runtime(
    { ledger, store, realPath: location, close },
    await Registry.open({ blocks: [acting(machine.world)] }),
    {
      clock: life.clock(machine.clock),
      random: {
        bytes: (length) => new Uint8Array(length).fill(1),
        uuid: () => `uuid-${ledger.state().epoch}-${++uuids}`
      },
      durability: 'output'
    }
  )
  return { life, tally }
}

/** What a caller wants done, again from the beginning after each crash. */
async function script(tally: Runtime): Promise<void> {
  await tally.loadPackages([packageDirectory])
  await tally.resumeAll()
  const asked = await tally.intent({ id: 'up', action: 'count.up', payload: { key: 'k' } })
  if (asked.type === 'permission_request') await tally.intent({ ...grant, id: 'grant' })
  expect(await tally.result('up')).toMatchObject({ type: 'dapp', count: 1 })
  const paid = await tally.intent({ id: 'pay', action: 'pay.once', payload: { amount: '1' } })
  expect(paid).toMatchObject({ type: 'dapp' })
}

describe('intents and crashes', () => {
  it('K5, L6: a wait for a grant, the grant and the work are each done once, whenever it dies', async () => {
    const location = await mkdtemp(join(tmpdir(), 'tally-intents-'))
    const locations = new Map<Machine, string>()
    const live = async (machine: Machine, dieAt?: number): Promise<number | undefined> => {
      // Each ledger has a directory of its own: an integrity lock belongs to one ledger.
      const own = locations.get(machine) ?? join(location, `${locations.size}`)
      locations.set(machine, own)
      const { life, tally } = await openLife(machine, own, dieAt).catch(() => ({
        life: undefined,
        tally: undefined
      }))
      if (tally === undefined) return undefined
      let end: { readonly error?: unknown } | undefined
      script(tally).then(
        () => {
          end = {}
        },
        (error: unknown) => {
          end = { error }
        }
      )
      await until(() => life.isDead || end !== undefined)
      if (life.isDead) {
        await tally.packages.close()
        return undefined
      }
      if (end?.error !== undefined) throw end.error
      const report = await tally.verify()
      expect(report.failure).toBeUndefined()
      expect(report.receipts).toBe(4)
      const { state } = await tally.reconstructState(100)
      expect(state.get('packages/counter/k')).toBe('1')
      // It may die as it closes: everything was acknowledged before.
      await tally.close().catch(() => undefined)
      return life.boundaries
    }
    const boundaries = (await live(new Machine())) ?? 0
    expect(boundaries).toBeGreaterThan(8)
    for (let at = 1; at < boundaries; at += cases({ usual: 6, long: 2, soak: 1 })) {
      const machine = new Machine()
      let done = await live(machine, at)
      for (let lives = 0; done === undefined && lives < 5; lives += 1) done = await live(machine)
      expect(done, `it died at ${at} of ${boundaries}`).toBeDefined()
      expect(machine.world.repeated()).toEqual([])
    }
    await rm(location, { recursive: true, force: true })
  })
})
