import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PaymentService, paymentService } from '../../examples/02-wallet/payment-service.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../src/runtime/index.js'
import '../support/seed.js'

/** The payments of the wallet example, over real HTTP, with a service that behaves as it likes. */

const folder = fileURLToPath(new URL('../../examples/02-wallet/', import.meta.url))
const grants = {
  wallet: ['bridge.burn', 'bridge.mint', 'contacts.read', 'wallet.balance'].concat(
    ['release', 'reserve', 'send'].map((name) => `wallet.${name}`)
  ),
  payments: ['network.request', 'storage.read', 'storage.write'],
  contacts: ['contacts.import', 'contacts.read']
}

let tally: WiredRuntime
let service: PaymentService
beforeAll(async () => {
  service = await paymentService()
  tally = await createRuntime({
    location: MEMORY_LOCATION,
    packages: Object.keys(grants).map((name) => `${folder}packages/${name}`),
    network: { policy: { allowLoopback: true } }
  })
  for (const [name, capabilities] of Object.entries(grants)) {
    await tally.intent({ action: 'system.grant', payload: { package: name, capabilities } })
  }
  await tally.intent({ action: 'wallet.mintFC', payload: { amount: '1000000' } })
  const preference = { subject: 'finance.transactions', provider: 'payments' }
  await tally.intent({ action: 'system.prefer', payload: preference })
  const contact = { name: 'Alice', account: 'alice' }
  await tally.intent({ action: 'contacts.add', payload: contact })
})
afterAll(async () => {
  service.close()
  await tally.close()
})

const DEAD_PORT = 1
const behaviour = fc.oneof(
  fc.constant({ kind: 'well' } as const),
  fc.record({ kind: fc.constant('busy' as const), times: fc.integer({ min: 1, max: 4 }) }),
  fc.constant({ kind: 'silent' } as const),
  fc.constant({ kind: 'gone' } as const)
)

async function walletBalance(): Promise<number> {
  const reply = await tally.intent({ action: 'wallet.balance' })
  return Number((reply as { readonly balance?: string }).balance)
}

describe('one payment', () => {
  it('C3, L7: what may have been paid at one provider is not paid at another', async () => {
    const documents = {
      fallback: await readFile(`${folder}graphs/fallback.yaml`, 'utf8'),
      retry: await readFile(`${folder}graphs/retry.yaml`, 'utf8')
    }
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('fallback', 'retry'), behaviour, async (name, how) => {
        service.behave({
          busy: how.kind === 'busy' ? how.times : 0,
          silent: how.kind === 'silent'
        })
        const [paidBefore, balanceBefore] = [service.payments.size, await walletBalance()]
        const port = how.kind === 'gone' ? DEAD_PORT : service.port
        await tally.intent({ action: 'payments.configure', payload: { port } })
        const { status } = await tally.begin(documents[name as keyof typeof documents]).result
        const atService = service.payments.size - paidBefore
        const atWallet = (balanceBefore - (await walletBalance())) / 10
        expect(atService + atWallet).toBeLessThanOrEqual(1)
        if (status === 'done') expect(atService + atWallet).toBe(1)
        if (how.kind === 'silent') expect([atService, atWallet]).toEqual([1, 0])
        if (how.kind === 'gone') expect(atWallet).toBe(name === 'fallback' ? 1 : 0)
      }),
      {
        numRuns: process.env['SOAK'] === '1' ? 100 : 6,
        endOnFailure: true,
        examples: [
          ['fallback', { kind: 'silent' }],
          ['fallback', { kind: 'gone' }]
        ]
      }
    )
    const report = await tally.replay()
    expect(report.failure).toBeUndefined()
  })
})
