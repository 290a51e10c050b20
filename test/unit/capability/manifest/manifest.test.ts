import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  capabilitySet,
  declaredCapabilities,
  parseManifest,
  readOnlyCapabilities
} from '../../../../src/capability/index.js'
import { canonicalize, type Json, parse } from '../../../../src/core/index.js'

const wallet = {
  name: 'Wallet',
  id: 'wallet',
  version: '1.2.0',
  intents: ['wallet.send', 'wallet.balance'],
  capabilities: [
    'storage.write',
    { name: 'wallet.send', canonical: 'finance.transactions', cost: '0.5', reliability: 0.9 }
  ],
  capabilitySchemas: [
    { id: 'finance.balance', type: 'data', semantics: 'what is there', trust_score: '0.8' }
  ]
} as const satisfies Json

function refusals(document: Json, options = {}) {
  const parsed = parseManifest(document, options)
  return parsed.ok ? [] : parsed.refusals.map(({ code, path }) => `${code} ${path.join('.')}`)
}

describe('parseManifest', () => {
  it('K3: brings strings and objects into one form', () => {
    expect(parseManifest(wallet)).toEqual({
      ok: true,
      manifest: {
        id: 'wallet',
        name: 'Wallet',
        version: '1.2.0',
        intents: ['wallet.balance', 'wallet.send'],
        capabilities: [
          { name: 'storage.write' },
          { name: 'wallet.send', canonical: 'finance.transactions', cost: '0.5', reliability: 0.9 }
        ],
        capabilitySchemas: [
          {
            id: 'finance.balance',
            canonical: 'finance.balance',
            type: 'data',
            description: 'what is there',
            reliability: '0.8'
          }
        ]
      }
    })
  })

  it('has one form for each manifest: reading it again changes nothing', () => {
    const names = fc.constantFrom(...capabilitySet)
    const entry = fc.oneof(
      names,
      fc.record(
        {
          name: names,
          canonical: fc.constantFrom('finance.balance', 'ai.chat'),
          cost: fc.oneof(fc.nat(), fc.constantFrom('0.25', '7')),
          sideEffectClass: fc.constantFrom('none', 'idempotent', 'non_idempotent')
        },
        { requiredKeys: ['name'] }
      )
    )
    const document = fc.record({
      name: fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed()),
      id: fc.constantFrom('a', 'b-2', 'c.d'),
      intents: fc.uniqueArray(fc.constantFrom('a.b', 'a', 'c.d.e'), { minLength: 1 }),
      capabilities: fc.uniqueArray(entry, {
        selector: (one) => (typeof one === 'string' ? one : one.name)
      })
    })
    fc.assert(
      fc.property(document, (given) => {
        const first = parseManifest(given)
        if (!first.ok) throw new Error(JSON.stringify(first.refusals))
        const text = canonicalize(first.manifest)
        const again = parseManifest(parse(text))
        expect(again.ok && canonicalize(again.manifest)).toBe(text)
      })
    )
  })

  it('takes the id from the directory when the manifest names none', () => {
    const { id: _, ...nameless } = wallet
    const parsed = parseManifest(nameless, { fallbackId: 'my-wallet' })
    expect(parsed.ok && parsed.manifest.id).toBe('my-wallet')
    expect(refusals(nameless)).toEqual(['invalid_manifest id'])
  })

  it.each(['', 'A', 'a/b', '..', 'a..b', '.a', 'a.', 'a\0', 'ä', `a${'b'.repeat(64)}`])(
    'refuses the id %j',
    (id) => {
      expect(refusals({ ...wallet, id })).toEqual(expect.arrayContaining(['invalid_manifest id']))
    }
  )

  it('refuses unknown keys, unknown capabilities, bad schemas and negative scores', () => {
    expect(refusals({ ...wallet, main: '../x.js' })).toEqual(['invalid_manifest '])
    expect(refusals({ ...wallet, capabilities: ['wallet.steal'] })).toEqual([
      'unknown_capability capabilities'
    ])
    expect(refusals({ ...wallet, capabilities: [{ name: 'wallet.send', cost: -1 }] })).toEqual([
      'invalid_manifest capabilities.0.cost'
    ])
    expect(refusals({ ...wallet, capabilitySchemas: [{ id: 'a.b', type: 'odd' }] })).toEqual([
      'invalid_manifest capabilitySchemas.0.type'
    ])
    expect(refusals({ ...wallet, intents: [] })).toEqual(['invalid_manifest intents'])
    expect(refusals({ ...wallet, intents: ['a..b'] })).toEqual(['invalid_manifest intents.0'])
    expect(refusals('text')).toEqual(['invalid_manifest '])
  })

  it('refuses what stands twice, and a capability that is the namespace of another', () => {
    expect(refusals({ ...wallet, intents: ['a', 'a'] })).toEqual(['duplicate_entry intents'])
    expect(refusals({ ...wallet, capabilities: ['wallet.send', { name: 'wallet.send' }] })).toEqual(
      ['duplicate_entry capabilities']
    )
    const known = new Set(['a.b', 'a.b.c'])
    expect(refusals({ ...wallet, capabilities: ['a.b', 'a.b.c'] }, { known })).toEqual([
      'invalid_manifest capabilities'
    ])
  })

  it('takes the capabilities that the host knows beside its own', () => {
    const known = new Set([...capabilitySet, 'weather.read'])
    const parsed = parseManifest({ ...wallet, capabilities: ['weather.read'] }, { known })
    expect(parsed.ok && declaredCapabilities(parsed.manifest)).toEqual(['weather.read'])
  })

  it('counts as reading only what changes nothing', () => {
    expect([...readOnlyCapabilities].filter((name) => !capabilitySet.has(name))).toEqual([])
    const changing = ['storage.write', 'wallet.send', 'network.request', 'messages.send']
    expect(changing.filter((name) => readOnlyCapabilities.has(name))).toEqual([])
  })
})
