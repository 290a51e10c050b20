import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  approverKey,
  grant,
  grantKey,
  grantsOf,
  isGranted,
  mayAdminister,
  missing,
  type Principal,
  prefer,
  preferred,
  readOnlyOf,
  revoke,
  setApprover,
  storageKey
} from '../../../../src/capability/index.js'
import { type IdentityId, type Json, sha256Hex } from '../../../../src/core/index.js'
import { stateInMemory } from '../../../support/state-in-memory.js'

const identity = 'a'.repeat(64) as IdentityId
const approver = 'b'.repeat(64)
const code = { identity, codeHash: sha256Hex('one') }
const owner: Principal = { kind: 'owner', id: identity }
const at = 1_700_000_000

describe('grants (K5)', () => {
  it('denies by default, and grants to one code of one identity only', () => {
    const state = stateInMemory()
    const capabilities = ['wallet.send', 'storage.read']
    expect(missing(state, { ...code, capabilities })).toEqual(['storage.read', 'wallet.send'])
    const change = grant(state, { ...code, capabilities: ['wallet.send'], by: owner, at })
    expect(change).toEqual({ ok: true, changed: ['wallet.send'] })
    expect(missing(state, { ...code, capabilities })).toEqual(['storage.read'])
    const swapped = { ...code, codeHash: sha256Hex('two') }
    expect(isGranted(state, { ...swapped, capability: 'wallet.send' })).toBe(false)
    const other = { ...code, identity: approver as IdentityId }
    expect(isGranted(state, { ...other, capability: 'wallet.send' })).toBe(false)
  })

  it('writes entries that say who and when, under the documented keys', () => {
    const state = stateInMemory()
    grant(state, { ...code, capabilities: ['wallet.send'], by: owner, at })
    const key = `permissions/${identity}/${code.codeHash}/wallet.send`
    expect([...state.entries]).toEqual([[key, { at, by: { id: identity, kind: 'owner' } }]])
    expect(grantKey({ ...code, capability: 'wallet.send' })).toBe(key)
    expect(key.startsWith(grantsOf(code))).toBe(true)
  })

  it('takes a grant back, and changes nothing twice', () => {
    const state = stateInMemory()
    const change = { ...code, capabilities: ['wallet.send'], by: owner, at }
    grant(state, change)
    expect(grant(state, { ...change, at: at + 1 })).toEqual({ ok: true, changed: [] })
    expect(revoke(state, change)).toEqual({ ok: true, changed: ['wallet.send'] })
    expect(revoke(state, change)).toEqual({ ok: true, changed: [] })
    expect(state.entries.size).toBe(0)
  })

  it('takes back those that were granted, sorted, and leaves the others', () => {
    const state = stateInMemory()
    const change = { ...code, by: owner, at }
    grant(state, { ...change, capabilities: ['c.c', 'a.a', 'b.b'] })
    const taken = { ...change, capabilities: ['c.c', 'x.x', 'a.a'] }
    expect(revoke(state, taken)).toEqual({ ok: true, changed: ['a.a', 'c.c'] })
    expect(missing(state, { ...code, capabilities: ['a.a', 'b.b'] })).toEqual(['a.a'])
  })

  it('holds grants as a set: any order of changes ends as the set does', () => {
    const name = fc.constantFrom('a.a', 'a.b', 'b.a')
    const step = fc.record({ grants: fc.boolean(), name })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const state = stateInMemory()
        const model = new Set<string>()
        for (const { grants, name: capability } of steps) {
          const change = { ...code, capabilities: [capability], by: owner, at }
          const done = grants ? grant(state, change) : revoke(state, change)
          expect(done.ok && done.changed.length === 1).toBe(grants !== model.has(capability))
          if (grants) model.add(capability)
          else model.delete(capability)
        }
        expect(state.entries.size).toBe(model.size)
        const capabilities = ['a.a', 'a.b', 'b.a']
        const expected = capabilities.filter((one) => !model.has(one))
        expect(missing(state, { ...code, capabilities })).toEqual(expected)
      })
    )
  })

  it('knows what a policy may grant without asking', () => {
    expect(readOnlyOf(['wallet.send', 'wallet.read', 'contacts.read'])).toEqual([
      'contacts.read',
      'wallet.read'
    ])
  })
})

describe('principals (K13)', () => {
  const others: readonly Principal[] = [
    { kind: 'package', id: 'wallet' },
    { kind: 'agent', id: approver },
    { kind: 'peer', id: approver }
  ]

  it.each(others)('a principal "$kind" changes nothing', (by) => {
    const state = stateInMemory()
    const change = { ...code, capabilities: ['wallet.send'], by, at }
    const who = `by the owner or an approver, not by a principal "${by.kind}"`
    const message = `permissions are changed ${who}`
    const refused = { ok: false, code: 'not_permitted', message }
    grant(state, { ...change, by: owner })
    const before = [...state.entries]
    expect(grant(state, change)).toEqual(refused)
    expect(revoke(state, change)).toEqual(refused)
    expect(prefer(state, { subject: 'a', provider: 'p', by, at })).toEqual(refused)
    const approval = { publicKey: approver, isApprover: true, by, at }
    expect(setApprover(state, approval)).toEqual(refused)
    expect([...state.entries]).toEqual(before)
  })

  it('lets an approver that the owner named grant, and name no other approver', () => {
    const state = stateInMemory()
    const named = { publicKey: approver, isApprover: true, by: owner, at }
    expect(setApprover(state, named)).toEqual({ ok: true, changed: [approver] })
    const by: Principal = { kind: 'peer', id: approver }
    expect(grant(state, { ...code, capabilities: ['a.b'], by, at }).ok).toBe(true)
    expect(setApprover(state, { ...named, by, publicKey: 'c'.repeat(64) }).ok).toBe(false)
    const withdrawn = { ...named, isApprover: false }
    expect(setApprover(state, withdrawn)).toEqual({ ok: true, changed: [approver] })
    expect(mayAdminister(state, by)).toBe(false)
    expect(setApprover(state, withdrawn)).toEqual({ ok: true, changed: [] })
  })

  it('writes who named an approver and when, once', () => {
    const state = stateInMemory()
    const named = { publicKey: approver, isApprover: true, by: owner, at }
    setApprover(state, named)
    expect(setApprover(state, { ...named, at: at + 1 })).toEqual({ ok: true, changed: [] })
    const entry = { at, by: { id: identity, kind: 'owner' } }
    expect([...state.entries]).toEqual([[`approvers/${approver}`, entry]])
  })

  it('never lets packages and agents act as an approver with the same name', () => {
    const state = stateInMemory()
    state.set(approverKey('wallet'), {})
    state.set(approverKey(approver), {})
    expect(mayAdminister(state, { kind: 'package', id: 'wallet' })).toBe(false)
    expect(mayAdminister(state, { kind: 'agent', id: approver })).toBe(false)
    const odd = { publicKey: 'wallet', isApprover: true, by: owner, at }
    expect(setApprover(state, odd)).toEqual({
      ok: false,
      code: 'invalid_subject',
      message: 'an approver is named by its public key'
    })
  })
})

describe('preferences and storage keys', () => {
  it('K4: a preference is an entry, and can be taken back', () => {
    const state = stateInMemory()
    const change = { subject: 'finance.balance', provider: 'wallet', by: owner, at }
    expect(preferred(state, change.subject)).toBeUndefined()
    expect(prefer(state, change)).toEqual({ ok: true, changed: ['finance.balance'] })
    expect(prefer(state, change)).toEqual({ ok: true, changed: [] })
    expect(preferred(state, change.subject)).toBe('wallet')
    const entry = { at, by: { id: identity, kind: 'owner' }, provider: 'wallet' }
    expect([...state.entries]).toEqual([['preferences/finance.balance', entry]])
    const withdrawn = { ...change, provider: null }
    expect(prefer(state, withdrawn)).toEqual({ ok: true, changed: ['finance.balance'] })
    expect(prefer(state, withdrawn)).toEqual({ ok: true, changed: [] })
    expect(state.entries.size).toBe(0)
  })

  it.each<[string, string | null]>([
    ['a', '../x'],
    ['a', ''],
    ['', 'wallet'],
    ['', null]
  ])('K4: a preference of %j for %j is refused', (subject, provider) => {
    const state = stateInMemory()
    expect(prefer(state, { subject, provider, by: owner, at })).toEqual({
      ok: false,
      code: 'invalid_subject',
      message: 'the subject or provider has no name'
    })
    expect(state.entries.size).toBe(0)
  })

  it.each<Json>([null, 'wallet', 1, [], {}, { provider: 1 }, { provider: null }])(
    'K4: an entry %j prefers no package',
    (entry) => {
      expect(preferred({ get: () => entry }, 'a')).toBeUndefined()
    }
  )

  it('no two packages share a storage key', () => {
    const key = fc.constantFrom('x', 'a/x', 'b/x', '/x', '../b/x', 'a', '/')
    const place = fc.tuple(fc.constantFrom('a', 'b', 'a-b', 'a.b'), key)
    fc.assert(
      fc.property(place, place, (left, right) => {
        const isSame = left.join('\0') === right.join('\0')
        expect(storageKey(...left) === storageKey(...right)).toBe(isSame)
      })
    )
    expect(storageKey('a', '')).toBeUndefined()
    expect(storageKey('a', 'x\0')).toBeUndefined()
    expect(storageKey('a', '\ud800')).toBeUndefined()
    expect(storageKey('a', 'x'.repeat(1_024))).toBeUndefined()
  })
})
