import { describe, expect, it } from 'vitest'
import { capabilitySet } from '../../../../src/capability/index.js'
import { createScopedApi } from '../../../../src/intent/index.js'
import { Guest, MemoryState, NOW_MS, OWNER } from './host.js'

/** Answered by the sandbox itself, or not yet at all. */
const elsewhere = ['display.timerTick', 'storage.read', 'storage.write']

describe('the scoped API', () => {
  it('K6: stands behind every name that a manifest may ask for', () => {
    const names = [...createScopedApi().keys(), ...elsewhere].sort()
    expect(names).toEqual([...capabilitySet].sort())
  })

  it('refuses a name that has no host', async () => {
    const answer = await new Guest().ask('display.timerTick')
    expect(answer).toEqual({
      ok: false,
      reason: 'not_available',
      details: { capability: 'display.timerTick' }
    })
  })

  it('identity.read tells the identity and nothing that could be changed', async () => {
    expect(await new Guest().result('identity.read')).toEqual({ id: OWNER, publicKey: OWNER })
    expect(await new Guest().ask('identity.read', { rotate: true })).toMatchObject({ ok: false })
  })

  it("storage.list sees the package's own keys only", async () => {
    const state = new MemoryState()
    for (const key of ['guest/a/1', 'guest/a/2', 'guest/b', 'guest2/a/3', 'other/a/4']) {
      state.set(`packages/${key}`, 1)
    }
    const guest = new Guest({ state })
    expect(await guest.result('storage.list')).toEqual({ keys: ['a/1', 'a/2', 'b'] })
    expect(await guest.result('storage.list', { prefix: 'a/' })).toEqual({ keys: ['a/1', 'a/2'] })
    expect(await guest.result('storage.list', { prefix: '../' })).toEqual({ keys: [] })
  })
})

describe('contacts', () => {
  it('are found whatever the case of their letters', async () => {
    const guest = new Guest()
    const contacts = [
      { name: 'Alice', account: 'alice' },
      { name: 'Zoë Ångström', account: 'zoe' }
    ]
    expect(await guest.result('contacts.import', { contacts })).toEqual({ imported: 2 })
    expect(await guest.result('contacts.import', { contacts })).toEqual({ imported: 0 })
    expect(await guest.result('contacts.read', { name: 'ALICE' })).toEqual({
      contact: contacts[0] ?? null
    })
    expect(await guest.result('contacts.read', { name: 'Bob' })).toEqual({ contact: null })
    expect(await guest.result('contacts.read')).toEqual({ contacts, more: false })
  })

  it.each([['a/b'], [' a'], ['a\u0000'], ['a\nb'], ['']])('refuses the name %j', async (name) => {
    const request = { contacts: [{ name, account: 'a' }] }
    expect(await new Guest().ask('contacts.import', request)).toMatchObject({ ok: false })
  })
})

describe('messages', () => {
  it('are kept with their sender and listed in the order of their time', async () => {
    const guest = new Guest({ id: 'postman' })
    const first = await guest.result('messages.send', { to: 'alice', text: 'one' })
    await guest.result('messages.send', { to: 'alice', text: 'two' })
    await guest.result('messages.send', { to: 'al', text: 'elsewhere' })
    const { messages } = await guest.result('messages.list', { to: 'alice' })
    expect(messages).toHaveLength(2)
    expect(messages).toContainEqual({
      id: first['id'],
      to: 'alice',
      from: 'postman',
      text: 'one',
      at: NOW_MS
    })
    const last = await guest.result('messages.list', { to: 'alice', last: 1 })
    expect(last['messages']).toEqual([(messages as readonly unknown[])[1]])
  })
})
