import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOf, type Json, policyHashOf } from '../../../src/core/index.js'
import {
  type Approval,
  approvalMessage,
  approversOf,
  checkApproval,
  getPublicKey,
  type SignedAnswer,
  signApproval
} from '../../../src/identity/index.js'
import { approvers, twoOfThree } from '../../support/approvers.js'
import { cases } from '../../support/effort.js'
import { smallOrderEncodings } from '../../support/hostile-signatures.js'
import { committedVectors } from '../../support/vectors.js'

/** A signed answer, and the digest of a wait with its approvers. */
interface ApprovalVector {
  readonly seed: string
  readonly approval: Approval
  /** What is signed. */
  readonly message: string
  readonly wait: Parameters<typeof digestOf>[0]
  readonly policyHash: string | null
  readonly digest: string
}

const place = { path: 'root/pay', step: 3, runId: 'july', blockHash: 'b'.repeat(64) }
const asked = { ...place, identity: 'a'.repeat(64), request: { reason: 'confirmation' } }
const named = approversOf(twoOfThree)

const vectors = committedVectors<ApprovalVector>('approval.json', () =>
  [
    { wait: { ...asked }, action: 'approve', value: null },
    { wait: { ...asked, ...named }, action: 'approve', value: null },
    { wait: { ...asked, ...named, asking: 2 }, action: 'deny', value: null },
    {
      wait: { ...asked, ...named },
      action: 'resume',
      value: { amount: '1000000000000000001', é: [1] }
    }
  ].map(({ wait: given, action, value }) => {
    const wait = given as unknown as ApprovalVector['wait']
    const digest = digestOf(wait) ?? ''
    const { seed } = approvers.ada
    const answer = { digest, token: 'c'.repeat(32), action, value: value as Json }
    const { key, signature } = signApproval(answer, seed)
    return {
      seed: Buffer.from(seed).toString('hex'),
      approval: { ...answer, key, signature },
      message: Buffer.from(approvalMessage(answer, key)).toString('hex'),
      wait,
      policyHash: policyHashOf(wait),
      digest
    }
  })
)

describe('an approval', () => {
  it('K13: has the bytes that the specification gives', () => {
    expect(vectors).toHaveLength(4)
    for (const { seed, approval, message, wait, policyHash, digest } of vectors) {
      expect(digestOf(wait)).toBe(digest)
      expect(policyHashOf(wait)).toBe(policyHash)
      expect(Buffer.from(approvalMessage(approval, approval.key)).toString('hex')).toBe(message)
      expect(checkApproval(approval, approval)).toBe(true)
      const { key, signature } = approval
      const again = signApproval(approval, Buffer.from(seed, 'hex'))
      expect(again).toEqual({ key, signature })
    }
  })

  it('K13: is valid for nothing but what was signed, and for no key but its own', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 })
    const said: fc.Arbitrary<SignedAnswer> = fc.record({
      digest: text,
      token: text,
      action: text,
      value: fc.jsonValue({ noUnicodeString: false }).map((value) => value as Json)
    })
    fc.assert(
      fc.property(
        said,
        said,
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (one, other, seed) => {
          const signature = signApproval(one, seed)
          expect(checkApproval(one, signature)).toBe(true)
          expect(checkApproval(one, { ...signature, key: approvers.eve.key })).toBe(
            signature.key === approvers.eve.key
          )
          for (const member of ['digest', 'token', 'action', 'value'] as const) {
            const mixed = { ...one, [member]: other[member] }
            const isSame = JSON.stringify(one[member]) === JSON.stringify(other[member])
            if (!isSame) expect(checkApproval(mixed, signature)).toBe(sameJson(one, mixed))
          }
        }
      ),
      { numRuns: cases({ usual: 40, long: 55 }) }
    )
  })
})

/** Key order and the sign of zero are no part of what is signed. */
function sameJson(one: SignedAnswer, other: SignedAnswer): boolean {
  const { key } = approvers.ada
  return Buffer.from(approvalMessage(one, key)).equals(approvalMessage(other, key))
}

describe('a list of approvers', () => {
  const { ada, ben, cay } = approvers

  it('K13: is taken in any order, and kept sorted', () => {
    const keys = [cay.key, ada.key, ben.key]
    const expected = { approvers: { threshold: 2, keys: [...keys].sort() } }
    expect(approversOf({ threshold: 2, keys })).toEqual(expected)
    expect(approversOf(expected.approvers)).toEqual(expected)
  })

  it('K13: has keys that can sign, each once, and no more signatures than keys', () => {
    const keys = [ada.key, ben.key]
    const many = Array.from({ length: 33 }, (_, at) => getPublicKey(new Uint8Array(32).fill(at)))
    const wrong: readonly unknown[] = [
      null,
      [ada.key],
      {},
      { keys },
      { threshold: 1 },
      { threshold: 0, keys },
      { threshold: 3, keys },
      { threshold: 1.5, keys },
      { threshold: '1', keys },
      { threshold: 1, keys: [] },
      { threshold: 1, keys: many },
      { threshold: 1, keys: [ada.key, ada.key] },
      { threshold: 1, keys: [ada.key.toUpperCase()] },
      { threshold: 1, keys: [ada.key.slice(1)] },
      { threshold: 1, keys: [7] },
      { threshold: 1, keys, more: true },
      ...smallOrderEncodings.map((key) => ({ threshold: 1, keys: [ada.key, key] })),
      // No point of the curve, and a coordinate that is not reduced.
      { threshold: 1, keys: [`02${'0'.repeat(62)}`] },
      { threshold: 1, keys: [`ee${'f'.repeat(60)}7f`] }
    ]
    for (const given of wrong)
      expect(approversOf(given), JSON.stringify(given)).toHaveProperty('problem')
    expect(approversOf({ threshold: 1, keys: many.slice(1) })).toHaveProperty('approvers')
  })
})
