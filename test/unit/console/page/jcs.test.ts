import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalText, hashOf } from '../../../../src/console/page/pure/jcs.js'
import { checkEvidence, checkReceipt } from '../../../../src/console/page/pure/receipt-check.js'
import { isSignedBy } from '../../../../src/console/page/pure/signature.js'
import { segmentTexts } from '../../../../src/console/page/pure/turns.js'
import { digestedParts } from '../../../../src/console/page/pure/wait-digest.js'
import {
  canonicalize,
  type DigestedWait,
  digestOf,
  hashJson,
  sha256Hex
} from '../../../../src/core/index.js'
import { chainOf, evidenceOf } from '../../../support/console/fake-chain.js'
import { fakeRuns } from '../../../support/console/fake-runs.js'
import { root } from '../../../support/source.js'

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

describe('a signature that the page checks', () => {
  it('has the verdict of the kernel, for each case of the vectors and for what is no hex', async () => {
    const file = join(root, 'test/vectors/ed25519-strict.json')
    const cases: readonly {
      readonly name: string
      readonly publicKey: string
      readonly message: string
      readonly signature: string
      readonly valid: boolean
    }[] = JSON.parse(readFileSync(file, 'utf8'))
    expect(cases.length).toBeGreaterThan(10)
    for (const { name, publicKey, message, signature, valid } of cases) {
      expect.soft(await isSignedBy(publicKey, { signature, message }), name).toBe(valid)
    }
    const [first = cases[0]] = cases.filter(({ valid }) => valid)
    if (first === undefined) throw new Error('no valid case')
    const { publicKey, message, signature } = first
    for (const wrong of ['', publicKey.slice(2), `${publicKey.slice(1)}G`, `${publicKey}00`]) {
      expect(await isSignedBy(wrong, { signature, message })).toBe(false)
    }
    expect(await isSignedBy(publicKey, { signature: `${signature}00`, message })).toBe(false)
    expect(await isSignedBy(publicKey, { signature, message: 'zz' })).toBe(false)
  })

  it('is over all of a receipt and of evidence: a member that is changed shows', async () => {
    const runs = fakeRuns()
    const [first] = chainOf(runs)
    const [evidence] = evidenceOf(runs, 1)
    if (first === undefined || evidence === undefined) throw new Error('no records')
    const { receipt } = first.view
    const good = { isHashed: true, isSigned: true, isFirstKey: true }
    expect(await checkReceipt(receipt)).toEqual(good)
    for (const name of Object.keys(receipt)) {
      const found = await checkReceipt({ ...receipt, [name]: hashJson('another') } as never)
      expect.soft(found.isHashed && found.isSigned, name).toBe(false)
    }
    const record = JSON.parse(evidence.record)
    expect(await checkEvidence(record)).toEqual(good)
    for (const name of Object.keys(record)) {
      const found = await checkEvidence({ ...record, [name]: hashJson('another') })
      expect.soft(found?.isHashed && found.isSigned, name).toBe(false)
    }
    expect(await checkEvidence(null)).toBeUndefined()
    expect(await checkEvidence({ evidenceHash: 1 })).toBeUndefined()
  })
})

describe('texts of a prompt', () => {
  it('are cut out of the request by their hashes, whatever blank lines they have', async () => {
    const lines = fc.array(fc.constantFrom('a', 'b\nc', '', 'd'), { minLength: 1, maxLength: 3 })
    const segments = fc.uniqueArray(
      lines.map((parts) => `x${parts.join('\n\n')}`),
      { minLength: 1, maxLength: 4 }
    )
    await fc.assert(
      fc.asyncProperty(segments, segments, async (standing, asked) => {
        const request = {
          systemPrompt: standing.join('\n\n'),
          turn: { prompt: asked.join('\n\n') }
        }
        const all = [...standing, ...asked]
        const found = await segmentTexts(
          request,
          all.map((text) => ({ hash: sha256Hex(text) }))
        )
        for (const [hash, text] of found) expect(sha256Hex(text)).toBe(hash)
        // One that begins with another whole one may be cut short: what is shown is signed anyway.
        const isPart = all.some((one) => all.some((two) => one !== two && two.startsWith(one)))
        if (!isPart) expect(new Set(found.values())).toEqual(new Set(all))
      })
    )
    expect((await segmentTexts(null, [{ hash: sha256Hex('a') }])).size).toBe(0)
  })
})
