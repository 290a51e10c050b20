import { verifyMembership as ics23Member, tendermintSpec, verifyNonMembership } from '@confio/ics23'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hash, isTallyError, present, sha256Hex } from '../../src/core/index.js'
import {
  encodeStateProof,
  hashKey,
  hashValue,
  type Ics23CommitmentProof,
  parseStateProof,
  proveAbsence,
  proveMembership,
  StateTree,
  toIcs23,
  verifyAbsence,
  verifyMembership
} from '../../src/ledger/state/index.js'

const state = fc.dictionary(
  fc.string({ maxLength: 3 }),
  fc.integer().map((value) => JSON.stringify({ value })),
  { minKeys: 1, maxKeys: 30 }
)

function treeOf(texts: Readonly<Record<string, string>>): StateTree {
  return Object.entries(texts).reduce(
    (tree, [key, text]) => tree.set(hashKey(key), hashValue(text)),
    StateTree.empty
  )
}

function stock(proof: Ics23CommitmentProof): Parameters<typeof ics23Member>[0] {
  return proof as unknown as Parameters<typeof ics23Member>[0]
}

/** Whether the encoded proof, as altered, still shows what it was made for. */
function holds(encoded: string, claim: { root: Hash; key: string; valueText: string }): boolean {
  try {
    const proof = parseStateProof(encoded)
    const { root } = claim
    return proof.type === 'membership'
      ? verifyMembership({ proof, root, key: claim.key, valueText: claim.valueText })
      : verifyAbsence({ proof, root, key: claim.key })
  } catch (error) {
    if (isTallyError(error, 'ledger.malformed_proof')) return false
    throw error
  }
}

describe('state proofs', () => {
  it('verify here and with the stock ICS-23 verifier, for every key', () => {
    fc.assert(
      fc.property(state, fc.string({ maxLength: 3 }), (texts, other) => {
        const tree = treeOf(texts)
        const root = tree.root()
        const byHash = new Map(Object.entries(texts).map(([key, text]) => [sha256Hex(key), text]))
        const textOf = (keyHash: Hash) => byHash.get(keyHash) ?? ''
        for (const [key, valueText] of Object.entries(texts)) {
          const proof = present(proveMembership(tree, key), 'proof')
          expect(verifyMembership({ proof, root, key, valueText })).toBe(true)
          const shaped = stock(toIcs23(proof, textOf))
          const value = Buffer.from(valueText)
          expect(ics23Member(shaped, tendermintSpec, tree.rootBytes(), hashKey(key), value)).toBe(
            true
          )
        }
        const absence = proveAbsence(tree, other)
        expect(absence === undefined).toBe(Object.hasOwn(texts, other))
        if (absence === undefined) return
        expect(verifyAbsence({ proof: absence, root, key: other })).toBe(true)
        const shaped = stock(toIcs23(absence, textOf))
        expect(verifyNonMembership(shaped, tendermintSpec, tree.rootBytes(), hashKey(other))).toBe(
          true
        )
      }),
      { numRuns: 40 }
    )
  })

  it('fail after any change of one byte', () => {
    const change = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }))
    fc.assert(
      fc.property(
        state,
        fc.string(),
        fc.array(change, { minLength: 20 }),
        (texts, name, changes) => {
          const tree = treeOf(texts)
          const [key = '', valueText = ''] = Object.entries(texts)[0] ?? []
          const absentKey = `absent ${name}`
          const proofs = [
            { key, proof: present(proveMembership(tree, key), 'membership') },
            { key: absentKey, proof: present(proveAbsence(tree, absentKey), 'absence') }
          ]
          for (const { key: claimed, proof } of proofs) {
            const claim = { root: tree.root(), key: claimed, valueText }
            const bytes = Buffer.from(encodeStateProof(proof))
            expect(holds(bytes.toString('latin1'), claim)).toBe(true)
            for (const [place, difference] of changes) {
              const altered = Buffer.from(bytes)
              const at = place % bytes.length
              altered[at] = (altered[at] ?? 0) ^ difference
              expect(holds(altered.toString('latin1'), claim)).toBe(false)
            }
          }
        }
      )
    )
  })
})
