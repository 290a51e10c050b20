import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Hash, present, sha256, sha256Hex } from '../../src/core/index.js'
import {
  consistencyProof,
  encodeSignedNote,
  growTiles,
  inclusionProof,
  LogFrontier,
  leafHash,
  parseSignedNote,
  tileHashReader,
  verifyConsistency,
  verifyInclusion
} from '../../src/ledger/log/index.js'

const LEAVES = 700
const leaves = Array.from({ length: LEAVES }, (_, index) => leafHash(`record ${index}`))
const tiles = new Map(
  growTiles({ size: 0, leaves, readTile: () => undefined }).map((tile) => [
    `${tile.level}/${tile.index}`,
    tile.bytes
  ])
)
const readHash = tileHashReader((level, index) => tiles.get(`${level}/${index}`))
const size = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: LEAVES }))

/** MTH of RFC 6962 §2.1, word for word. */
function naiveRoot(list: readonly Uint8Array[]): Uint8Array {
  const [first] = list
  if (first === undefined) return sha256('')
  if (list.length === 1) return first
  let split = 1
  while (split * 2 < list.length) split *= 2
  const halves = [naiveRoot(list.slice(0, split)), naiveRoot(list.slice(split))]
  return sha256(Buffer.concat([Buffer.of(0x01), ...halves]))
}

function rootOf(count: number): Hash {
  return Buffer.from(naiveRoot(leaves.slice(0, count))).toString('hex') as Hash
}

/** One hash of the list with one bit turned over. */
function altered(proof: readonly Hash[], place: number): readonly Hash[] {
  const at = place % proof.length
  return proof.with(at, sha256Hex(present(proof[at], 'hash')))
}

describe('Merkle log', () => {
  it('has the naive root after any number of appends, also when saved and continued', () => {
    fc.assert(
      fc.property(size, fc.nat(), (count, cut) => {
        const append = (frontier: LogFrontier, leaf: Uint8Array) => frontier.append(leaf)
        const first = leaves.slice(0, cut % count).reduce(append, LogFrontier.empty)
        const again = present(LogFrontier.decode(first.size, first.encode()), 'frontier')
        expect(
          leaves
            .slice(cut % count, count)
            .reduce(append, again)
            .root()
        ).toBe(rootOf(count))
        expect(LogFrontier.fromHashes(count, readHash).root()).toBe(rootOf(count))
      })
    )
  })

  it('proves each record, and no altered, longer, shorter or moved proof holds', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (count, which, place) => {
        const index = which % count
        const proof = inclusionProof(index, count, readHash)
        const leaf = present(leaves[index], 'leaf')
        const claim = { index, size: count, leaf, root: rootOf(count) }
        expect(verifyInclusion({ ...claim, proof })).toBe(true)
        expect(verifyInclusion({ ...claim, proof: [...proof, sha256Hex('')] })).toBe(false)
        expect(verifyInclusion({ ...claim, proof, leaf: leafHash('other') })).toBe(false)
        if (proof.length === 0) return
        expect(verifyInclusion({ ...claim, proof: altered(proof, place) })).toBe(false)
        expect(verifyInclusion({ ...claim, proof: proof.slice(1) })).toBe(false)
        expect(verifyInclusion({ ...claim, proof: proof.slice(0, -1) })).toBe(false)
        const moved = (index + 1 + (place % (count - 1))) % count
        expect(verifyInclusion({ ...claim, proof, index: moved })).toBe(false)
      })
    )
  })

  it('proves each earlier size, and no altered, longer or shorter proof holds', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (count, earlier, place) => {
        const firstSize = (earlier % count) + 1
        const proof = consistencyProof(firstSize, count, readHash)
        const claim = {
          firstSize,
          secondSize: count,
          firstRoot: rootOf(firstSize),
          secondRoot: rootOf(count)
        }
        expect(verifyConsistency({ ...claim, proof })).toBe(true)
        expect(verifyConsistency({ ...claim, proof: [...proof, sha256Hex('')] })).toBe(false)
        expect(verifyConsistency({ ...claim, proof, firstRoot: sha256Hex('') })).toBe(false)
        expect(verifyConsistency({ ...claim, proof, secondRoot: sha256Hex('') })).toBe(false)
        if (proof.length === 0) return
        expect(verifyConsistency({ ...claim, proof: altered(proof, place) })).toBe(false)
        expect(verifyConsistency({ ...claim, proof: proof.slice(1) })).toBe(false)
        expect(verifyConsistency({ ...claim, proof: proof.slice(0, -1) })).toBe(false)
      })
    )
  })
})

describe('signed notes', () => {
  it('that can be read are written back to the same bytes', () => {
    const name = fc.stringMatching(/^[a-z/.]{1,10}$/)
    const line = fc.record({
      name,
      keyId: fc.stringMatching(/^[0-9a-f]{8}$/),
      signature: fc.uint8Array({ minLength: 1, maxLength: 80 })
    })
    const text = fc.array(fc.stringMatching(/^[ -~é]{0,10}$/), { minLength: 1 })
    fc.assert(
      fc.property(text, fc.array(line, { minLength: 1, maxLength: 4 }), (lines, signatures) => {
        const note = { text: `x${lines.join('\n')}\n`, signatures }
        const encoded = encodeSignedNote(note)
        expect(parseSignedNote(encoded)).toEqual(note)
        expect(encodeSignedNote(parseSignedNote(encoded))).toBe(encoded)
      })
    )
  })
})
