import { readFileSync } from 'node:fs'
import { verifyMembership as ics23Member, tendermintSpec, verifyNonMembership } from '@confio/ics23'
import { describe, expect, it } from 'vitest'
import { type Hash, sha256Hex } from '../../../../src/core/index.js'
import {
  type AbsenceProof,
  encodeStateProof,
  hashKey,
  hashValue,
  type Ics23CommitmentProof,
  type MembershipProof,
  parseStateProof,
  proveAbsence,
  proveMembership,
  StateTree,
  toIcs23,
  verifyAbsence,
  verifyMembership
} from '../../../../src/ledger/state/index.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/state-tree.json', import.meta.url), 'utf8')
)

type Entry = { readonly key: string; readonly valueText: string }

function treeOf(entries: readonly Entry[]): StateTree {
  return entries.reduce(
    (tree, { key, valueText }) => tree.set(hashKey(key), hashValue(valueText)),
    StateTree.empty
  )
}

function textsOf(entries: readonly Entry[]): (keyHash: Hash) => string {
  const texts = new Map(entries.map(({ key, valueText }) => [sha256Hex(key), valueText]))
  return (keyHash) => texts.get(keyHash) ?? ''
}

/** The stock type has mutable arrays, and nulls where ours are readonly. */
function stock(proof: Ics23CommitmentProof): Parameters<typeof ics23Member>[0] {
  return proof as unknown as Parameters<typeof ics23Member>[0]
}

function member(tree: StateTree, key: string): MembershipProof {
  const proof = proveMembership(tree, key)
  if (proof === undefined) throw new Error(`${key} is absent`)
  return proof
}

function absent(tree: StateTree, key: string): AbsenceProof {
  const proof = proveAbsence(tree, key)
  if (proof === undefined) throw new Error(`${key} is present`)
  return proof
}

describe('state proofs', () => {
  it('are those of the committed vectors', () => {
    for (const { entries, root, membership, absence } of vectors.trees) {
      const tree = treeOf(entries)
      for (const { key, valueText, proof } of membership) {
        expect(encodeStateProof(member(tree, key))).toBe(proof)
        const parsed = parseStateProof(proof)
        expect(parsed).toEqual(member(tree, key))
        expect(verifyMembership({ proof: member(tree, key), root, key, valueText })).toBe(true)
      }
      for (const { key, proof } of absence) {
        expect(encodeStateProof(absent(tree, key))).toBe(proof)
        expect(parseStateProof(proof)).toEqual(absent(tree, key))
        expect(verifyAbsence({ proof: absent(tree, key), root, key })).toBe(true)
      }
    }
  })

  it('are accepted by the stock ICS-23 verifier with tendermintSpec', () => {
    for (const { entries, root, absence } of vectors.trees.slice(1)) {
      const tree = treeOf(entries)
      const texts = textsOf(entries)
      const rootBytes = Buffer.from(root, 'hex')
      for (const { key, valueText } of entries) {
        const proof = stock(toIcs23(member(tree, key), texts))
        const value = Buffer.from(valueText)
        expect(ics23Member(proof, tendermintSpec, rootBytes, hashKey(key), value)).toBe(true)
        const other = Buffer.from('"other"')
        expect(ics23Member(proof, tendermintSpec, rootBytes, hashKey(key), other)).toBe(false)
      }
      for (const { key } of absence) {
        const proof = stock(toIcs23(absent(tree, key), texts))
        expect(verifyNonMembership(proof, tendermintSpec, rootBytes, hashKey(key))).toBe(true)
        const there = hashKey(entries[0].key)
        expect(verifyNonMembership(proof, tendermintSpec, rootBytes, there)).toBe(false)
      }
    }
  })

  it('are not made for the opposite claim', () => {
    const tree = treeOf(vectors.trees[4].entries)
    expect(proveMembership(tree, 'absent')).toBeUndefined()
    expect(proveAbsence(tree, 'key-1')).toBeUndefined()
    expect(proveMembership(StateTree.empty, 'absent')).toBeUndefined()
  })

  it('fail for another key, value or root', () => {
    const tree = treeOf(vectors.trees[4].entries)
    const root = tree.root()
    const proof = member(tree, 'key-1')
    expect(verifyMembership({ proof, root, key: 'key-1', valueText: '2' })).toBe(false)
    expect(verifyMembership({ proof, root, key: 'key-2', valueText: '1' })).toBe(false)
    const other = tree.set(hashKey('key-9'), hashValue('"new"')).root()
    expect(verifyMembership({ proof, root: other, key: 'key-1', valueText: '1' })).toBe(false)
    const gap = absent(tree, 'absent')
    expect(verifyAbsence({ proof: gap, root: other, key: 'absent' })).toBe(false)
    expect(verifyAbsence({ proof: gap, root, key: 'key-1' })).toBe(false)
  })

  it('of absence fail when the neighbours are not side by side', () => {
    const tree = treeOf(vectors.trees[4].entries)
    const root = tree.root()
    const sorted = [...tree.entries()].map(([keyHash]) => keyHash.toString('hex'))
    const entry = vectors.trees[4].entries.find(
      ({ key }: Entry) => sha256Hex(key) === sorted[20]
    ) as Entry
    const keys = new Map(
      vectors.trees[4].entries.map(({ key }: Entry) => [sha256Hex(key) as string, key])
    )
    const leafAt = (index: number) => member(tree, keys.get(sorted[index] ?? '') as string).leaf
    const lie = (left: number | null, right: number | null): AbsenceProof => ({
      version: 1,
      type: 'absence',
      keyHash: sha256Hex(entry.key),
      left: left === null ? null : leafAt(left),
      right: right === null ? null : leafAt(right)
    })
    const check = (proof: AbsenceProof) => verifyAbsence({ proof, root, key: entry.key })
    expect(check(lie(19, 21))).toBe(false)
    expect(check(lie(19, null))).toBe(false)
    expect(check(lie(null, 21))).toBe(false)
    expect(check(lie(null, null))).toBe(false)
    expect(check(lie(20, 21))).toBe(false)
    expect(check(lie(21, 19))).toBe(false)
    const without = tree.delete(hashKey(entry.key))
    const truth = absent(without, entry.key)
    expect(verifyAbsence({ proof: truth, root: without.root(), key: entry.key })).toBe(true)
    expect(check(truth)).toBe(false)
  })

  it('are read strictly', () => {
    const text = encodeStateProof(member(treeOf(vectors.trees[4].entries), 'key-1'))
    const bad = [
      '',
      '[]',
      'null',
      ` ${text}`,
      text.replace('"version":1', '"version":2'),
      text.replace('membership', 'other'),
      text.replace('{', '{"extra":1,'),
      text.replace('"left"', '"middle"'),
      text.replace(/"keyHash":"./, '"keyHash":"X'),
      text.replace('"path":[', '"path":[1,'),
      text.replace(/"path":\[.*\]/, '"path":{}'),
      JSON.stringify(JSON.parse(text), null, 1),
      text.replace(/"path":\[/, `"path":[${`{"left":"${'0'.repeat(64)}"},`.repeat(256)}`),
      'x'.repeat(200_000)
    ]
    for (const wrong of bad) {
      expect(() => parseStateProof(wrong), wrong.slice(0, 80)).toThrow(
        expect.objectContaining({ code: 'ledger.malformed_proof' })
      )
    }
  })
})
