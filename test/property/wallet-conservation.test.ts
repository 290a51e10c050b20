import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WalletBook } from '../../src/intent/scoped-api/wallet-book.js'
import { Guest, MemoryState } from '../unit/intent/scoped-api/host.js'

/** Whatever packages ask of the wallet, in any order: H1 to H4. */

const amount = fc.bigInt({ min: 1n, max: 60n }).map(String)
const account = fc.constantFrom('self', 'alice', 'bob')

const operation = fc.oneof(
  fc.record({ name: fc.constant('bridge.mint'), request: fc.record({ amount, to: account }) }),
  fc.record({ name: fc.constant('bridge.burn'), request: fc.record({ amount }) }),
  fc.record({ name: fc.constant('wallet.send'), request: fc.record({ amount, to: account }) }),
  fc.record({ name: fc.constant('wallet.reserve'), request: fc.record({ amount }) }),
  // Which of the reservations made so far, also those that are gone.
  fc.record({ name: fc.constant('wallet.release'), which: fc.nat(5) }),
  fc.record({ name: fc.constant('wallet.send'), which: fc.nat(5), to: account })
)

describe('the wallet', () => {
  it('H1 H2 H3 H4: keeps balances, supply and reservations in step', async () => {
    const packages = fc.constantFrom('first', 'second')
    const steps = fc.array(fc.tuple(packages, operation), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(steps, async (asked) => {
        const state = new MemoryState()
        const guests = {
          first: new Guest({ state, id: 'first' }),
          second: new Guest({ state, id: 'second' })
        }
        const made: string[] = []
        for (const [by, one] of asked) {
          const before = new Map(state.entries)
          const request =
            'request' in one
              ? one.request
              : {
                  reservation: made[one.which] ?? '0'.repeat(64),
                  ...('to' in one ? { to: one.to } : {})
                }
          const answer = await guests[by].ask(one.name, request)
          if (!answer.ok) expect(state.entries).toEqual(before)
          else if (one.name === 'wallet.reserve') {
            made.push(String((answer.result as { readonly reservation: string }).reservation))
          }
          await holds(state)
        }
      }),
      { numRuns: process.env['SOAK'] === '1' ? 2_000 : 60 }
    )
  })
})

async function holds(state: MemoryState): Promise<void> {
  const book = new WalletBook(state, 'frame')
  const open = (await book.reservations()).map((id) => book.reservation(id))
  let sum = 0n
  for (const name of await book.accounts()) {
    const { balance, reserved } = book.account(name)
    const kept = open
      .filter((one) => one?.account === name)
      .reduce((total, one) => total + (one?.amount ?? 0n), 0n)
    expect(reserved).toBe(kept)
    expect(reserved >= 0n && reserved <= balance).toBe(true)
    sum += balance
  }
  expect(sum).toBe(book.supply)
}
