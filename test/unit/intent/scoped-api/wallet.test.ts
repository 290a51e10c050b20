import { describe, expect, it } from 'vitest'
import { isTallyError } from '../../../../src/core/index.js'
import { Guest, MemoryState } from './host.js'

async function funded(amount = '100'): Promise<Guest> {
  const guest = new Guest()
  await guest.result('bridge.mint', { amount })
  return guest
}

describe('the wallet of the scoped API', () => {
  it('K6: mints, sends and burns whole amounts as text', async () => {
    const guest = await funded()
    const sent = await guest.result('wallet.send', { to: 'alice', amount: '30' })
    expect(sent).toMatchObject({ to: 'alice', amount: '30', balance: '70', available: '70' })
    expect(await guest.result('bridge.burn', { amount: '20' })).toMatchObject({ supply: '80' })
    expect(await guest.result('wallet.read')).toEqual({
      asset: 'frame',
      supply: '80',
      accounts: [
        { account: 'alice', balance: '30', available: '30', reserved: '0' },
        { account: 'self', balance: '50', available: '50', reserved: '0' }
      ],
      reservations: []
    })
  })

  it('adds beyond what numbers of the engine hold', async () => {
    const guest = await funded('9007199254740993')
    await guest.result('bridge.mint', { amount: '9007199254740993' })
    expect(await guest.result('wallet.balance')).toMatchObject({ balance: '18014398509481986' })
  })

  it('keeps assets apart', async () => {
    const guest = await funded()
    await guest.result('bridge.mint', { amount: '7', asset: 'gold' })
    expect(await guest.result('wallet.balance', { asset: 'gold' })).toMatchObject({ balance: '7' })
    expect(await guest.result('wallet.balance')).toMatchObject({ balance: '100' })
  })

  it('H2: spends what is available, not what is reserved', async () => {
    const guest = await funded()
    const { reservation } = await guest.result('wallet.reserve', { amount: '80' })
    expect(await guest.ask('wallet.send', { to: 'alice', amount: '30' })).toMatchObject({
      ok: false,
      reason: 'insufficient_funds',
      details: { account: 'self', available: '20', wanted: '30' }
    })
    expect(await guest.ask('bridge.burn', { amount: '21' })).toMatchObject({ ok: false })
    const settled = await guest.result('wallet.send', { to: 'bob', reservation: reservation ?? '' })
    expect(settled).toMatchObject({ amount: '80', balance: '20', reserved: '0' })
  })

  it('H3: gives released funds back, once', async () => {
    const guest = await funded()
    const { reservation = '' } = await guest.result('wallet.reserve', { amount: '80' })
    const released = await guest.result('wallet.release', { reservation })
    expect(released).toMatchObject({ available: '100', reserved: '0' })
    const again = await guest.ask('wallet.release', { reservation })
    expect(again).toMatchObject({ ok: false, reason: 'unknown_reservation' })
  })

  it("leaves a reservation to the package that made it, and hides others' ones", async () => {
    const state = new MemoryState()
    const owner = new Guest({ state, id: 'owner' })
    const other = new Guest({ state, id: 'other' })
    await owner.result('bridge.mint', { amount: '10' })
    const { reservation = '' } = await owner.result('wallet.reserve', { amount: '10' })
    for (const capability of ['wallet.release', 'wallet.send']) {
      const request = { reservation, ...(capability === 'wallet.send' ? { to: 'eve' } : {}) }
      expect(await other.ask(capability, request)).toMatchObject({ reason: 'unknown_reservation' })
    }
    expect((await other.result('wallet.read'))['reservations']).toEqual([])
    expect((await owner.result('wallet.read'))['reservations']).toEqual([
      { id: reservation, amount: '10' }
    ])
  })

  it('H4: a refused operation leaves the state as it was', async () => {
    const guest = await funded()
    const before = new Map(guest.state.entries)
    const refusals = [
      ['wallet.send', { to: 'alice', amount: '101' }],
      ['wallet.send', { to: 'self', amount: '1' }],
      ['wallet.reserve', { amount: '101' }],
      ['bridge.burn', { amount: '101' }],
      ['bridge.mint', { amount: '9'.repeat(78) }],
      ['wallet.send', { to: 'alice', reservation: 'f'.repeat(64) }]
    ] as const
    for (const [capability, request] of refusals) {
      expect(await guest.ask(capability, request)).toMatchObject({ ok: false })
    }
    expect(guest.state.entries).toEqual(before)
  })

  it('an emptied wallet has the state of one that was never used', async () => {
    const guest = await funded()
    await guest.result('bridge.burn', { amount: '100' })
    expect(guest.state.entries.size).toBe(0)
  })

  it.each([['0'], ['-1'], ['1.5'], ['1e3'], ['01'], [' 1'], [''], [1], ['9'.repeat(79)]])(
    'refuses the amount %j',
    async (amount) => {
      const guest = await funded()
      expect(await guest.ask('wallet.send', { to: 'alice', amount })).toMatchObject({
        ok: false,
        reason: 'invalid_request'
      })
    }
  )

  it.each([['Alice'], ['a/b'], ['..'], [''], ['a'.repeat(65)]])(
    'refuses the account %j',
    async (to) => {
      const guest = await funded()
      expect(await guest.ask('wallet.send', { to, amount: '1' })).toMatchObject({ ok: false })
    }
  )

  it('refuses members it does not know, such as another source', async () => {
    const guest = await funded()
    const request = { to: 'eve', amount: '1', from: 'alice' }
    expect(await guest.ask('wallet.send', request)).toMatchObject({ reason: 'invalid_request' })
  })

  it('calls that are open together are done in their order, each on what the last left', async () => {
    const guest = await funded('10')
    const answers = await guest.askAll([
      ['wallet.send', { to: 'alice', amount: '6' }],
      ['wallet.send', { to: 'bob', amount: '6' }],
      ['wallet.balance', {}]
    ])
    expect(answers.map(({ ok }) => ok)).toEqual([true, false, true])
    expect(answers[2]?.result).toMatchObject({ balance: '4' })
  })

  it('reports a state that the wallet did not write', async () => {
    const guest = await funded()
    guest.state.set('wallet/frame/accounts/self', { balance: 'many' })
    await expect(guest.ask('wallet.balance')).rejects.toSatisfy((error: unknown) =>
      isTallyError(error, 'intent.malformed_wallet')
    )
  })
})
