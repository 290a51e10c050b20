import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Json, systemClock } from '../../src/core/index.js'
import { WalletBook } from '../../src/intent/scoped-api/wallet-book.js'
import { Registry } from '../../src/runtime/code/registry.js'
import { WiredRuntime } from '../../src/runtime/runtime.js'
import { cases, testMs } from '../support/effort.js'
import { openLedger } from '../support/ledgers.js'
import { inlineSigner, type Life, Machine, testKeys } from '../support/lives.js'
import '../support/seed.js'

/**
 * Packages that mint, send, reserve and burn, alone and in atomic composites that fail halfway,
 * on a machine that loses power: money neither appears nor goes away.
 */

const packageFolder = fileURLToPath(
  new URL('../../examples/02-wallet/packages/wallet', import.meta.url)
)

let location: string
beforeAll(async () => {
  location = await mkdtemp(join(tmpdir(), 'tally-wallet-'))
})
afterAll(() => rm(location, { recursive: true, force: true }))

const amount = fc.integer({ min: 1, max: 90 }).map(String)
const intent = fc.oneof(
  fc.record({ action: fc.constant('wallet.mintFC'), payload: fc.record({ amount }) }),
  fc.record({ action: fc.constant('wallet.burnFC'), payload: fc.record({ amount }) }),
  fc.record({ action: fc.constant('wallet.reserve'), payload: fc.record({ amount }) }),
  fc.record({
    action: fc.constant('wallet.send'),
    payload: fc.record({
      amount,
      target: fc.constantFrom('alice', 'bob'),
      dry: fc.boolean()
    })
  })
)
type Asked = { readonly action: string; readonly payload: Record<string, Json> }
/** One intent, or several of which all are done or none. */
const step = fc.oneof(
  intent.map((one) => [one] as readonly Asked[]),
  fc.array(intent, { minLength: 2, maxLength: 3 }) as fc.Arbitrary<readonly Asked[]>
)

function composite(steps: readonly Asked[]): Json {
  const nodes = steps.map(({ action, payload }, at) => [
    `s${at}`,
    { block: 'intent.none', input: { lit: { action, payload } } }
  ])
  const ways = steps.slice(1).map((_, at) => [`s${at}`, `s${at + 1}`])
  return {
    schema: 'tally-composite/1',
    name: 'several',
    version: '1.0.0',
    atomic: true,
    entry_point: 's0',
    nodes: Object.fromEntries(nodes),
    transitions: Object.fromEntries(ways)
  }
}

async function openLife(machine: Machine, dieAt?: number) {
  const { life, store } = machine.begin(dieAt)
  const { identity, blobKey } = testKeys
  const signer = inlineSigner()
  const ledger = await openLedger({ store, identity, signer, blobKey, create: 'if-absent' })
  const close = async () => {
    await ledger.close()
    await store.close()
  }
  let uuids = 0
  const registry = await Registry.open({})
  const tally = new WiredRuntime({ ledger, store, realPath: location, close }, registry, {
    clock: life.clock(machine.clock),
    random: {
      bytes: (length) => new Uint8Array(length).fill(1),
      uuid: () => `uuid-${ledger.state().epoch}-${++uuids}`
    },
    durability: 'output'
  })
  return { life, tally }
}

/** Everything from the beginning: what is done already is only looked up. */
async function script(tally: WiredRuntime, steps: readonly (readonly Asked[])[]): Promise<void> {
  await tally.resumeAll()
  await tally.loadPackages([packageFolder])
  const capabilities = ['bridge.burn', 'bridge.mint', 'contacts.read']
  for (const name of ['balance', 'release', 'reserve', 'send']) capabilities.push(`wallet.${name}`)
  const payload = { package: 'wallet', capabilities: capabilities.sort() }
  await tally.intent({ id: 'grant', action: 'system.grant', payload })
  await tally.intent({ id: 'start', action: 'wallet.mintFC', payload: { amount: '100' } })
  for (const [at, asked] of steps.entries()) {
    const [first] = asked
    if (asked.length === 1 && first !== undefined) await tally.intent({ id: `s${at}`, ...first })
    else await tally.begin(composite(asked), { id: `s${at}` }).result
    await holds(tally)
  }
}

/** H1 to H3 of the wallet, on the state as it stands. Gives the balances. */
async function holds({ ledger }: WiredRuntime): Promise<Json> {
  const get = (key: string): Json | undefined => {
    const text = ledger.read(key)
    return text === undefined ? undefined : (JSON.parse(text) as Json)
  }
  const list = async (prefix: string) => ledger.list(prefix)
  const unused = () => {
    throw new Error('this only reads')
  }
  const book = new WalletBook({ get, list, set: unused, delete: unused }, 'frame')
  const open = (await book.reservations()).map((id) => book.reservation(id)?.amount ?? 0n)
  let sum = 0n
  const balances: Record<string, string> = {}
  for (const account of await book.accounts()) {
    const { balance, reserved } = book.account(account)
    sum += balance
    balances[account] = `${balance} of which ${reserved} reserved`
    expect(reserved >= 0n && reserved <= balance).toBe(true)
    const kept = account === 'self' ? open.reduce((total, one) => total + one, 0n) : 0n
    expect(reserved).toBe(kept)
  }
  expect(sum).toBe(book.supply)
  return balances
}

/** Balances at the end of a life, or undefined when it ended early. */
async function live(
  machine: Machine,
  steps: readonly (readonly Asked[])[],
  dieAt?: number
): Promise<{ readonly balances: Json; readonly boundaries: number } | undefined> {
  const opened = await openLife(machine, dieAt).catch(() => undefined)
  if (opened === undefined) return undefined
  const { life, tally }: { life: Life; tally: WiredRuntime } = opened
  let end: { readonly error?: unknown } | undefined
  script(tally, steps).then(
    () => {
      end = {}
    },
    (error: unknown) => {
      end = { error }
    }
  )
  // Threads of the sandbox take real time, which turns of the loop do not count.
  while (!life.isDead && end === undefined) {
    await new Promise<void>((resolve) => systemClock.schedule(systemClock.now() + 2, resolve))
  }
  if (life.isDead) {
    await tally.packages.close()
    return undefined
  }
  if (end?.error !== undefined) throw end.error
  const balances = await holds(tally)
  const { boundaries } = life
  const report = await tally.verify()
  expect(report.failure).toBeUndefined()
  await tally.close()
  return { balances, boundaries }
}

describe('money in packages', () => {
  it('H1, C4, L6: the sum is the supply, and a crash changes nothing, in any sequence', {
    timeout: testMs(300_000)
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 5 }),
        fc.double({ min: 0.1, max: 0.95, noNaN: true }),
        async (steps, part) => {
          const whole = await live(new Machine(), steps)
          if (whole === undefined) throw new Error('it died without a crash')
          const machine = new Machine()
          let end = await live(machine, steps, Math.floor(whole.boundaries * part) + 1)
          for (let lives = 0; end === undefined && lives < 5; lives += 1) {
            end = await live(machine, steps)
          }
          expect(end?.balances).toEqual(whole.balances)
        }
      ),
      { numRuns: cases({ usual: 2, long: 4, soak: 60 }), endOnFailure: true }
    )
  })
})
