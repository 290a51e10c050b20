import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION, type Runtime } from '../../../src/runtime/index.js'

const folder = fileURLToPath(new URL('../../../examples/02-wallet/packages/', import.meta.url))
const names = ['wallet', 'contacts', 'messages', 'payments']

async function open() {
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    packages: names.map((name) => `${folder}${name}`),
    network: { policy: { allowLoopback: true } }
  })
  return tally
}

async function grantAll(tally: Runtime): Promise<void> {
  const { packages } = (await tally.intent({ action: 'system.packages' })) as unknown as {
    readonly packages: readonly {
      readonly id: string
      readonly capabilities: readonly { readonly name: string }[]
    }[]
  }
  for (const { id, capabilities } of packages) {
    const payload = { package: id, capabilities: capabilities.map(({ name }) => name) }
    await tally.intent({ action: 'system.grant', payload })
  }
}

const done = async (tally: Runtime, action: string, payload: JsonObject = {}) => {
  const reply = await tally.intent({ action, payload })
  if (reply.type !== 'dapp') throw new Error(JSON.stringify(reply))
  return reply
}

describe('packages of the wallet example, in their sandbox', () => {
  it('K5 K6: ask first, then move money once granted, and replay', async () => {
    await using tally = await open()
    const asked = await tally.intent({ action: 'wallet.mintFC', payload: { amount: '100' } })
    expect(asked).toMatchObject({ type: 'permission_request', dappId: 'wallet' })
    await grantAll(tally)
    expect(await tally.result(asked.id)).toMatchObject({ type: 'dapp', supply: '100' })
    await done(tally, 'contacts.add', { name: 'Alice', account: 'alice' })
    expect(await done(tally, 'wallet.send', { target: 'Alice', amount: 10 })).toMatchObject({
      dappId: 'wallet',
      sent: true,
      to: 'alice',
      amount: '10',
      balance: '90'
    })
    expect(await done(tally, 'finance.balance')).toMatchObject({ available: '90' })
    const poor = await tally.intent({
      action: 'wallet.send',
      payload: { target: 'a', amount: '91' }
    })
    expect(poor).toMatchObject({ type: 'error', details: { message: 'insufficient_funds' } })
    expect(await done(tally, 'wallet.burnFC', { amount: '40' })).toMatchObject({ supply: '60' })
    const report = await tally.replay()
    expect(report).toMatchObject({ ok: true })
  })
})
