import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../../../src/core/index.js'
import {
  consistencyProof,
  encodeLogProof,
  growTiles,
  inclusionProof,
  LogFrontier,
  leafHash,
  parseLogProof,
  type ReadTile,
  type Tile,
  tileHashReader,
  tilePath,
  verifyConsistency,
  verifyInclusion
} from '../../../../src/ledger/log/index.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/merkle-log.json', import.meta.url), 'utf8')
)
const { small, large } = vectors

const smallLeaves: Uint8Array[] = small.leavesHex.map((hex: string) =>
  leafHash(Buffer.from(hex, 'hex'))
)
const largeLeaves = Array.from({ length: 1_000 }, (_, index) => leafHash(String(index)))

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function frontierOf(leaves: readonly Uint8Array[]): LogFrontier {
  return leaves.reduce((frontier, leaf) => frontier.append(leaf), LogFrontier.empty)
}

/** Tiles as a ledger would keep them, grown in batches of the given size. */
function storedTiles(leaves: readonly Uint8Array[], batch: number) {
  const store = new Map<string, Uint8Array>()
  const readTile: ReadTile = (level, index) => store.get(`${level}/${index}`)
  const written: Tile[] = []
  for (let size = 0; size < leaves.length; size += batch) {
    const tiles = growTiles({ size, leaves: leaves.slice(size, size + batch), readTile })
    for (const tile of tiles) store.set(`${tile.level}/${tile.index}`, tile.bytes)
    written.push(...tiles)
  }
  return { store, readTile, written }
}

describe('RFC 6962 log', () => {
  it('has the leaf hashes and roots of the reference implementation', () => {
    expect(smallLeaves.map(hex)).toEqual(small.leafHashes)
    let frontier = LogFrontier.empty
    expect(frontier.root()).toBe(vectors.emptyRoot)
    for (const [index, leaf] of smallLeaves.entries()) {
      frontier = frontier.append(leaf)
      expect(frontier.root()).toBe(small.roots[index])
      expect(hex(frontier.rootBytes())).toBe(small.roots[index])
      expect(frontier.size).toBe(index + 1)
    }
  })

  it('hashes a record the same as text and as bytes', () => {
    for (const text of ['', '{"a":"é😀"}', '\0']) {
      expect(leafHash(text)).toEqual(leafHash(Buffer.from(text)))
    }
  })

  it('makes and accepts the inclusion proofs of the vectors', () => {
    const { readTile } = storedTiles(smallLeaves, 3)
    const readHash = tileHashReader(readTile)
    for (const { index, size, hashes } of small.inclusion) {
      expect(inclusionProof(index, size, readHash)).toEqual(hashes)
      const claim = { index, size, leaf: smallLeaves[index] ?? Buffer.of(), proof: hashes }
      expect(verifyInclusion({ ...claim, root: small.roots[size - 1] })).toBe(true)
      expect(verifyInclusion({ ...claim, root: sha256Hex('other') })).toBe(false)
    }
  })

  it('makes and accepts the consistency proofs of the vectors', () => {
    const { readTile } = storedTiles(smallLeaves, 8)
    const readHash = tileHashReader(readTile)
    for (const { firstSize, secondSize, hashes } of small.consistency) {
      expect(consistencyProof(firstSize, secondSize, readHash)).toEqual(hashes)
      const claim = { firstSize, secondSize, proof: hashes }
      const firstRoot = small.roots[firstSize - 1]
      const secondRoot = small.roots[secondSize - 1]
      expect(verifyConsistency({ ...claim, firstRoot, secondRoot })).toBe(true)
      const other = sha256Hex('other')
      expect(verifyConsistency({ ...claim, firstRoot: other, secondRoot })).toBe(false)
      expect(verifyConsistency({ ...claim, firstRoot, secondRoot: other })).toBe(false)
    }
  })

  it('has the roots, proofs and tiles of the larger vectors', () => {
    const roots = new Map<number, string>()
    for (const { size, root } of large.roots) {
      roots.set(size, root)
      expect(frontierOf(largeLeaves.slice(0, size)).root()).toBe(root)
    }
    const { readTile } = storedTiles(largeLeaves, 77)
    const readHash = tileHashReader(readTile)
    for (const { index, size, hashes } of large.inclusion) {
      expect(inclusionProof(index, size, readHash)).toEqual(hashes)
    }
    for (const { firstSize, secondSize, hashes } of large.consistency) {
      expect(consistencyProof(firstSize, secondSize, readHash)).toEqual(hashes)
    }
    const { store } = storedTiles(largeLeaves.slice(0, large.tileSize), 100)
    expect(store.size).toBe(large.tiles.length)
    for (const { level, index, width, sha256 } of large.tiles) {
      const bytes = store.get(`${level}/${index}`) ?? Buffer.of()
      expect(bytes.length).toBe(width * 32)
      expect(sha256Hex(bytes)).toBe(sha256)
    }
  })

  it('takes the empty log as the beginning of every log', () => {
    const emptyRoot = LogFrontier.empty.root()
    const claim = { firstSize: 0, firstRoot: emptyRoot, secondSize: 8, secondRoot: small.roots[7] }
    expect(consistencyProof(0, 8, () => Buffer.of())).toEqual([])
    expect(verifyConsistency({ ...claim, proof: [] })).toBe(true)
    expect(verifyConsistency({ ...claim, proof: [small.roots[0]] })).toBe(false)
    expect(verifyConsistency({ ...claim, firstRoot: small.roots[0], proof: [] })).toBe(false)
    const both = { firstSize: 0, secondSize: 0, proof: [] }
    expect(verifyConsistency({ ...both, firstRoot: emptyRoot, secondRoot: emptyRoot })).toBe(true)
    expect(verifyConsistency({ ...both, firstRoot: emptyRoot, secondRoot: small.roots[0] })).toBe(
      false
    )
  })

  it('does not accept sizes and indexes that cannot be', () => {
    const leaf = smallLeaves[0] ?? Buffer.of()
    const root = small.roots[0]
    for (const [index, size] of [
      [1, 1],
      [-1, 1],
      [0.5, 1],
      [0, 0],
      [0, 2 ** 53]
    ] as const) {
      expect(verifyInclusion({ index, size, leaf, proof: [], root })).toBe(false)
      expect(() => inclusionProof(index, size, () => leaf)).toThrow(
        expect.objectContaining({ code: 'ledger.proof_out_of_range' })
      )
    }
    for (const [first, second] of [
      [2, 1],
      [-1, 1],
      [0.5, 1],
      [0, 0.5],
      [1, 2 ** 53]
    ] as const) {
      expect(() => consistencyProof(first, second, () => leaf)).toThrow(
        expect.objectContaining({ code: 'ledger.proof_out_of_range' })
      )
      const claim = { firstSize: first, secondSize: second, firstRoot: root, secondRoot: root }
      expect(verifyConsistency({ ...claim, proof: [] })).toBe(false)
    }
  })

  it('keeps an older frontier valid, and encodes in one hash for each 1 bit of its size', () => {
    const older = frontierOf(smallLeaves.slice(0, 7))
    older.append(smallLeaves[7] ?? Buffer.of())
    expect(older.root()).toBe(small.roots[6])
    const bytes = older.encode()
    expect(bytes.length).toBe(3 * 32)
    const decoded = LogFrontier.decode(7, bytes)
    expect(decoded?.append(smallLeaves[7] ?? Buffer.of()).root()).toBe(small.roots[7])
    expect(LogFrontier.decode(8, bytes)).toBeUndefined()
    for (const size of [-1, 0.5, 7.5, 2 ** 53]) {
      expect(LogFrontier.decode(size, bytes)).toBeUndefined()
    }
    expect(LogFrontier.decode(-1, Buffer.alloc(0))).toBeUndefined()
    expect(LogFrontier.decode(0, Buffer.alloc(0))?.root()).toBe(LogFrontier.empty.root())
    expect(() => older.append(Buffer.alloc(31))).toThrow(/32 bytes/)
  })
})

describe('tiles', () => {
  it('give back the frontier of any size', () => {
    const { readTile } = storedTiles(largeLeaves, 1_000)
    const readHash = tileHashReader(readTile)
    for (const size of [0, 1, 255, 256, 257, 600, 1_000]) {
      expect(LogFrontier.fromHashes(size, readHash).root()).toBe(
        frontierOf(largeLeaves.slice(0, size)).root()
      )
    }
  })

  it('come out the same in any batches, and a full tile is not written again', () => {
    const one = storedTiles(largeLeaves, 1_000)
    for (const batch of [1, 100, 256, 700]) {
      const other = storedTiles(largeLeaves, batch)
      expect(other.store).toEqual(one.store)
      const full = other.written.filter((tile) => tile.bytes.length === 256 * 32)
      expect(new Set(full.map(({ level, index }) => `${level}/${index}`)).size).toBe(full.length)
    }
  })

  it('that are missing or too short are reported, not read past', () => {
    const malformed = expect.objectContaining({ code: 'ledger.malformed_tile' })
    const leaves = largeLeaves.slice(0, 1)
    expect(() => growTiles({ size: 5, leaves, readTile: () => undefined })).toThrow(malformed)
    expect(() => growTiles({ size: 5, leaves, readTile: () => Buffer.alloc(4 * 32) })).toThrow(
      malformed
    )
    expect(() => tileHashReader(() => Buffer.alloc(32))(1, 0)).toThrow(malformed)
    expect(growTiles({ size: 5, leaves: [], readTile: () => undefined })).toEqual([])
  })

  it('have the paths of C2SP tlog-tiles', () => {
    for (const { path, ...tile } of vectors.tilePaths) expect(tilePath(tile)).toBe(path)
    expect(() => tilePath({ level: 0, index: 0, width: 0 })).toThrow(/tile/)
    expect(() => tilePath({ level: 0, index: -1, width: 1 })).toThrow(/tile/)
  })
})

describe('log proofs as text', () => {
  it('are read and written to the bytes of the vectors', () => {
    for (const text of vectors.proofTexts) expect(encodeLogProof(parseLogProof(text))).toBe(text)
  })

  it('are read strictly', () => {
    const text: string = vectors.proofTexts[0]
    const hashes = (count: number) =>
      text.replace(/"hashes":\[.*\]/, `"hashes":[${Array(count).fill(`"${'0'.repeat(64)}"`)}]`)
    expect(parseLogProof(hashes(106)).hashes).toHaveLength(106)
    const problems = {
      'its type is unknown': text.replace('"type":"inclusion"', '"type":"other"'),
      'its hashes are not a list of at most 106 hashes': hashes(107),
      'an index or size is not a count': text.replace('"size":7', '"size":-7')
    }
    for (const [problem, wrong] of Object.entries(problems)) {
      expect(() => parseLogProof(wrong)).toThrow(expect.objectContaining({ context: { problem } }))
    }
    const bad = [
      '',
      '1',
      ` ${text}`,
      text.replace('"version":1', '"version":2'),
      text.replace('inclusion', 'other'),
      text.replace('inclusion', 'consistency'),
      text.replace('"size":7', '"size":7.5'),
      text.replace('"size":7', '"size":-7'),
      text.replace('"size":7', '"size":"7"'),
      text.replace('"index":4', '"extra":0,"index":4'),
      text.replace('"hashes":["', '"hashes":["X'),
      text.replace('"hashes":[', `"hashes":[${`"${'0'.repeat(64)}",`.repeat(106)}`),
      'x'.repeat(200_000)
    ]
    for (const wrong of bad) {
      expect(() => parseLogProof(wrong), wrong.slice(0, 80)).toThrow(
        expect.objectContaining({ code: 'ledger.malformed_proof' })
      )
    }
  })
})
