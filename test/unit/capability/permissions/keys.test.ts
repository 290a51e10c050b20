import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  packageStoragePrefix,
  principalGrantIn,
  principalGrantKey,
  principalGrantsOf,
  storageKey
} from '../../../../src/capability/permissions/keys.js'
import { limits } from '../../../../src/core/index.js'

/** K5, K14: where permissions stand in the state, up to the longest key that fits. */

const identity = 'a'.repeat(64)
const codeHash = 'b'.repeat(64)
const max = limits.STATE_KEY_LENGTH_MAX
const grantOf = (id: string, capability: string) => ({
  identity,
  principal: { kind: 'agent', id },
  codeHash,
  capability
})

describe('a key of a package', () => {
  it('K5: stands below the prefix of the package', () => {
    expect(storageKey('wallet', 'a/b')).toBe('packages/wallet/a/b')
    expect(packageStoragePrefix('wallet')).toBe('packages/wallet/')
  })

  it('K5: is as long as a key of the state may be', () => {
    const room = max - packageStoragePrefix('wallet').length
    expect(storageKey('wallet', 'x'.repeat(room))).toHaveLength(max)
    expect(storageKey('wallet', 'x'.repeat(room + 1))).toBeUndefined()
  })

  it.each(['', '\0', 'a\0', '\0a', '\ud800', 'a\udc00b'])('K5: is never %j', (key) => {
    expect(storageKey('wallet', key)).toBeUndefined()
  })
})

describe('a key of a grant to a principal', () => {
  it('K14: says whose identity, who, which code and what', () => {
    const prefix = `system/grants/${identity}/agent/a%2Fb%20c/`
    expect(principalGrantsOf(grantOf('a/b c', ''))).toBe(prefix)
    expect(principalGrantKey(grantOf('a/b c', 'bank.pay'))).toBe(`${prefix}${codeHash}/bank.pay`)
  })

  it('K14: is read back as it was written, and no two grants share one', () => {
    const id = fc.string({ unit: fc.constantFrom('a', '/', '%', '2', 'F', ' ', 'é', '😀') })
    const name = fc.constantFrom('pay', 'a/b', 'a', '/', 'b/', 'é')
    const kind = fc.constantFrom('agent', 'peer', 'package')
    const one = fc.record({ kind, id: id.filter((text) => text !== ''), capability: name })
    const keyOf = ({ kind, id, capability }: { kind: string; id: string; capability: string }) =>
      principalGrantKey({ identity, principal: { kind, id }, codeHash, capability })
    fc.assert(
      fc.property(one, one, (left, right) => {
        const key = keyOf(left)
        const isSame = JSON.stringify(left) === JSON.stringify(right)
        expect(key === keyOf(right)).toBe(isSame)
        expect(principalGrantIn(key?.slice(`system/grants/${identity}/`.length) ?? '')).toEqual({
          principal: { kind: left.kind, id: left.id },
          codeHash,
          capability: left.capability
        })
      })
    )
  })

  it('K14: is as long as a key of the state may be', () => {
    const room = max - (principalGrantKey(grantOf('worker', 'x'))?.length ?? 0)
    expect(principalGrantKey(grantOf('worker', 'x'.repeat(room + 1)))).toHaveLength(max)
    expect(principalGrantKey(grantOf('worker', 'x'.repeat(room + 2)))).toBeUndefined()
    const left = max - (principalGrantsOf(grantOf('w', ''))?.length ?? 0)
    expect(principalGrantsOf(grantOf('w'.repeat(left), ''))).toHaveLength(max - 1)
    expect(principalGrantsOf(grantOf('w'.repeat(left + 1), ''))).toBeUndefined()
  })

  it.each([
    ['', 'pay'],
    ['\ud800', 'pay'],
    ['worker', ''],
    ['worker', 'a\0'],
    ['worker', '\udc00']
  ])('K14: is never that of the principal %j and the capability %j', (id, capability) => {
    expect(principalGrantKey(grantOf(id, capability))).toBeUndefined()
  })

  it.each(['', 'agent', 'agent/worker'])('K14: is not read from %j', (rest) => {
    expect(principalGrantIn(rest)).toBeUndefined()
  })
})
