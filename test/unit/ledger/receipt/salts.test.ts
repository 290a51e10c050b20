import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { UnitId } from '../../../../src/core/index.js'
import { BlobSalts } from '../../../../src/ledger/receipt/blob.js'

it('a salt is the HMAC-SHA256 of its place, whatever was salted before', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const id = fc.string({ unit: 'binary', maxLength: 1_000 })
  fc.assert(
    fc.property(key, fc.array(id, { minLength: 1 }), (bytes, ids) => {
      const salts = new BlobSalts(bytes)
      for (const [seq, one] of ids.entries()) {
        const expected = createHmac('sha256', bytes).update(`${one}/${seq}`).digest('hex')
        expect(salts.salt(one as UnitId, seq)).toBe(expected)
      }
    })
  )
})
