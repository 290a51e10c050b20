import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { principalGrantKey } from '../../../../src/capability/permissions/keys.js'
import type { Principal } from '../../../../src/capability/permissions/principal.js'
import {
  grantToPrincipal,
  principalLacks,
  revokeFromPrincipal
} from '../../../../src/capability/permissions/principal-grants.js'
import { type IdentityId, sha256Hex } from '../../../../src/core/index.js'
import { stateInMemory } from '../../../support/state-in-memory.js'

/** K14: what principals other than the owner may use. */

const identity = 'a'.repeat(64) as IdentityId
const codeHash = sha256Hex('one')
const owner: Principal = { kind: 'owner', id: identity }
const worker: Principal = { kind: 'agent', id: 'worker' }
const at = 1_700_000_000
const both = ['pay', 'bank.pay']
const change = {
  identity,
  principal: worker,
  codeHash,
  capabilities: both,
  by: owner,
  at,
  subject: 'pay@1'
}
const prefix = `system/grants/${identity}/agent/worker/${codeHash}/`

/** A state that holds grants of these capabilities. */
function granted(capabilities: readonly string[]) {
  const state = stateInMemory()
  grantToPrincipal(state, { ...change, capabilities })
  return state
}

describe('what a principal lacks', () => {
  it('K14: is nothing for the owner, and all for a caller that is no principal', () => {
    const used = { identity, codeHash, capabilities: both }
    for (const state of [stateInMemory(), granted(both)]) {
      expect(principalLacks(state, { ...used, principal: owner })).toEqual([])
      expect(principalLacks(state, { ...used, principal: undefined })).toEqual(both)
    }
  })

  it('K14: is what is not granted, in the order in which it is asked for', () => {
    const used = { identity, principal: worker, codeHash, capabilities: [...both, 'a.b'] }
    expect(principalLacks(stateInMemory(), used)).toEqual([...both, 'a.b'])
    expect(principalLacks(granted(['bank.pay']), used)).toEqual(['pay', 'a.b'])
    expect(principalLacks(granted(both), { ...used, capabilities: both })).toEqual([])
  })

  it.each<[string, object]>([
    ['identity', { identity: 'b'.repeat(64) }],
    ['code', { codeHash: sha256Hex('two') }],
    ['name', { principal: { ...worker, id: 'other' } }],
    ['kind of principal', { principal: { ...worker, kind: 'package' } }]
  ])('K14: is all where the grant is of another %s', (_, other) => {
    const used = { identity, principal: worker, codeHash, capabilities: both, ...other }
    expect(principalLacks(granted(both), used)).toEqual(both)
  })

  it('K14: is a capability that no key can name', () => {
    const used = { identity, principal: worker, codeHash, capabilities: ['', 'a\0', '\ud800'] }
    expect(principalLacks(stateInMemory(), used)).toEqual(used.capabilities)
  })
})

describe('a change of what a principal may use', () => {
  it('K14: writes who granted it, when and of which code, sorted and once', () => {
    const state = stateInMemory()
    expect(grantToPrincipal(state, change)).toEqual({ ok: true, changed: ['bank.pay', 'pay'] })
    const entry = { at, by: { id: identity, kind: 'owner' }, subject: 'pay@1' }
    expect([...state.entries]).toEqual([
      [`${prefix}bank.pay`, entry],
      [`${prefix}pay`, entry]
    ])
    const again = { ...change, capabilities: ['pay', 'a.b'], at: at + 1 }
    expect(grantToPrincipal(state, again)).toEqual({ ok: true, changed: ['a.b'] })
    expect(state.get(`${prefix}pay`)).toEqual(entry)
  })

  it('K14: takes back what was granted and nothing else', () => {
    const state = granted(['c', 'a', 'b'])
    const taken = { ...change, capabilities: ['c', 'x', 'a'] }
    expect(revokeFromPrincipal(state, taken)).toEqual({ ok: true, changed: ['a', 'c'] })
    expect(revokeFromPrincipal(state, taken)).toEqual({ ok: true, changed: [] })
    expect([...state.entries.keys()]).toEqual([`${prefix}b`])
  })

  const notOwners: readonly Principal[] = [
    worker,
    { kind: 'peer', id: 'b'.repeat(64) },
    { kind: 'package', id: 'wallet' }
  ]
  it.each(notOwners)(
    'K13: is refused when a principal "$kind" asks, whatever was granted',
    (by) => {
      for (const state of [stateInMemory(), granted(both)]) {
        const before = [...state.entries]
        for (const act of [grantToPrincipal, revokeFromPrincipal]) {
          const outcome = act(state, { ...change, by })
          expect(outcome).toEqual({
            ok: false,
            code: 'not_permitted',
            message: `what a principal may use is granted by the owner, not by a "${by.kind}"`
          })
        }
        expect([...state.entries]).toEqual(before)
      }
    }
  )

  it.each<[string, object]>([
    ['of the owner', { principal: owner }],
    ['of a principal without a name', { principal: { kind: 'agent', id: '' } }],
    [
      'of a principal with half a character as its name',
      { principal: { ...worker, id: '\ud800' } }
    ],
    ['of a name that is too long', { principal: { ...worker, id: 'x'.repeat(1_024) } }],
    ['of a capability without a name', { capabilities: ['pay', ''] }],
    ['of a capability with a zero in its name', { capabilities: ['a\0b', 'pay'] }],
    ['of a capability with half a character', { capabilities: ['\udc00'] }],
    ['of a capability that is too long', { capabilities: ['x'.repeat(1_024), 'pay'] }]
  ])('K14: is refused %s, and then changes nothing', (_, other) => {
    const state = granted(both)
    const before = [...state.entries]
    for (const act of [grantToPrincipal, revokeFromPrincipal]) {
      expect(act(state, { ...change, ...other })).toEqual({
        ok: false,
        code: 'invalid_subject',
        message: 'no grant can have this principal'
      })
    }
    expect([...state.entries]).toEqual(before)
  })

  it('K14: holds grants as a set: after any changes a principal lacks the rest', () => {
    const names = ['a', 'a.b', 'a/b', 'b']
    const step = fc.record({ grants: fc.boolean(), capabilities: fc.subarray(names) })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const state = stateInMemory()
        const model = new Set<string>()
        for (const { grants, capabilities } of steps) {
          const differing = capabilities.filter((one) => model.has(one) !== grants)
          const act = grants ? grantToPrincipal : revokeFromPrincipal
          const changed = [...differing].sort()
          expect(act(state, { ...change, capabilities })).toEqual({ ok: true, changed })
          for (const one of differing) grants ? model.add(one) : model.delete(one)
        }
        expect(state.entries.size).toBe(model.size)
        expect(principalLacks(state, { ...change, capabilities: names })).toEqual(
          names.filter((one) => !model.has(one))
        )
        const keys = [...model].map((capability) => principalGrantKey({ ...change, capability }))
        expect(keys.every((key) => key !== undefined && state.entries.has(key))).toBe(true)
      })
    )
  })
})
