import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalText, hashOf } from '../../../../src/console/page/pure/jcs.js'
import { digestedParts } from '../../../../src/console/page/pure/wait-digest.js'
import { canonicalize, type DigestedWait, digestOf, hashJson } from '../../../../src/core/index.js'

describe('canonical JSON of the page', () => {
  it('is the text that the kernel writes, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'grapheme' }), (value) => {
        expect(canonicalText(value)).toBe(canonicalize(value))
      })
    )
  })

  it('refuses what the kernel refuses', () => {
    for (const value of ['\ud800', { '\udc00': 1 }, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect.soft(() => canonicalText(value)).toThrow()
      expect.soft(() => canonicalize(value)).toThrow()
    }
  })
})

describe('the digest that the page computes of a wait', () => {
  const hash = fc.nat().map((seed) => hashJson(seed))
  const waits = fc.record(
    {
      request: fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' }),
      path: fc.constantFrom('root', 'root/pay'),
      step: fc.nat(),
      blockHash: hash,
      identity: hash,
      runId: fc.string({ unit: 'grapheme' }),
      asking: fc.integer({ min: 2, max: 9 }),
      approvers: fc.record({ threshold: fc.nat(3), keys: fc.array(hash) })
    },
    { requiredKeys: ['request', 'path', 'step'] }
  )

  it('is that of the kernel, and there is none where the kernel has none', async () => {
    await fc.assert(
      fc.asyncProperty(waits, async (drawn) => {
        const wait = drawn as unknown as DigestedWait
        const parts = await digestedParts(wait)
        const digest = parts === undefined ? undefined : await hashOf(parts)
        expect(digest).toBe(digestOf(wait))
      })
    )
  })
})
