import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { canonicalize, type Json, sha256Hex } from '../../../../src/core/index.js'
import { publicKeyBytes, verify } from '../../../../src/identity/index.js'
import { parseEvidence, parseReceipt } from '../../../../src/ledger/index.js'
import { encodeHead, parseHead } from '../../../../src/ledger/record/head.js'
import { fixedIdentity } from './support.js'
import { scenario, type Vectors } from './vector-scenario.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/receipt.json', import.meta.url), 'utf8')
) as Vectors

describe('receipt vectors (formats.md §3, §6)', () => {
  it('are what the ledger writes', async () => {
    const { seed, blobKey, ...expected } = vectors
    const keys = fixedIdentity()
    expect(Buffer.from(keys.seed).toString('hex')).toBe(seed)
    expect(Buffer.from(keys.blobKey).toString('hex')).toBe(blobKey)
    expect(await scenario()).toEqual(expected)
  })

  it('hash, link and verify by the rules alone', () => {
    let previous: Json = null
    for (const text of vectors.receipts) {
      const { receiptHash, signature, ...rest } = JSON.parse(text) as Record<string, Json>
      expect(sha256Hex(canonicalize(rest))).toBe(receiptHash)
      expect(rest['previousReceiptHash']).toBe(previous)
      expect(sha256Hex(canonicalize(rest['inputPayload']))).toBe(rest['inputHash'])
      expect(
        verify(
          Buffer.from(String(signature), 'hex'),
          Buffer.from(String(receiptHash), 'hex'),
          publicKeyBytes(String(rest['publicKey']) as never)
        )
      ).toBe(true)
      previous = receiptHash ?? null
    }
  })

  it('parse and encode to the same bytes, and nothing else parses', () => {
    for (const text of vectors.receipts) {
      expect(parseReceipt(text)).toMatchObject({ ok: true })
      expect(canonicalize(JSON.parse(text))).toBe(text)
      for (const bad of [
        ` ${text}`,
        text.replace('{', '{"aaa":1,'),
        text.replace(/"version":1}$/, '"version":2}'),
        text.replace(/"signature":"../, '"signature":"'),
        text.replace(/,"timestamp":\d+/, ''),
        text.replace('"capabilitiesUsed":["storage.write"]', '"capabilitiesUsed":["b","a"]'),
        text.replace('"capabilitiesUsed":["storage.write"]', '"capabilitiesUsed":["a","a"]')
      ]) {
        expect(parseReceipt(bad).ok).toBe(false)
      }
    }
    expect(parseEvidence(vectors.evidence)).toMatchObject({ ok: true })
    expect(parseEvidence(vectors.evidence.replace('failure', 'success')).ok).toBe(false)
    expect(encodeHead(parseHead('head', vectors.head))).toBe(vectors.head)
  })
})
