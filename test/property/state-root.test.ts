import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/index.js'
import {
  buildStateTree,
  changedPages,
  decodePages,
  encodePage,
  hashKey,
  hashValue,
  pageOf,
  STATE_PAGE_COUNT,
  StateTree
} from '../../src/ledger/state/index.js'

/** Key hashes with long common prefixes too, which hashes of short keys would hardly ever give. */
const keyHash = fc.oneof(
  fc.string({ maxLength: 4 }).map(hashKey),
  fc
    .array(fc.constantFrom(0x00, 0x01, 0x80, 0xff), { minLength: 1, maxLength: 3 })
    .map((tail) => Buffer.concat([Buffer.alloc(32 - tail.length), Buffer.from(tail)])),
  fc.integer({ min: 0, max: 255 }).map((bit) => {
    const bytes = Buffer.alloc(32)
    bytes[bit >> 3] = 0x80 >> (bit & 7)
    return bytes
  })
)
const entry = fc.tuple(
  keyHash,
  fc.nat({ max: 9 }).map((value) => hashValue(String(value)))
)
const entries = fc.uniqueArray(entry, {
  maxLength: 40,
  selector: ([key]) => key.toString('hex')
})

type Entry = readonly [keyHash: Buffer, valueHash: Buffer]

function treeOf(list: readonly Entry[]): StateTree {
  return list.reduce((tree, [key, value]) => tree.set(key, value), StateTree.empty)
}

function bitOf(key: Buffer, bit: number): number {
  return ((key[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1
}

/** formats.md §4 word for word, bit by bit from the top. */
function naiveRoot(list: readonly Entry[], bit = 0): Buffer {
  const [first] = list
  if (first === undefined) return sha256('')
  if (list.length === 1) {
    const length = Buffer.from([0x20])
    return sha256(Buffer.concat([Buffer.from([0x00]), length, first[0], length, first[1]]))
  }
  const left = list.filter(([key]) => bitOf(key, bit) === 0)
  const right = list.filter(([key]) => bitOf(key, bit) === 1)
  if (left.length === 0 || right.length === 0) return naiveRoot(list, bit + 1)
  return sha256(
    Buffer.concat([Buffer.from([0x01]), naiveRoot(left, bit + 1), naiveRoot(right, bit + 1)])
  )
}

function pagesOf(tree: StateTree): Map<number, Buffer> {
  const pages = new Map<number, Buffer>()
  for (let page = 0; page < STATE_PAGE_COUNT; page += 1) {
    const bytes = Buffer.from(encodePage(tree, page))
    if (bytes.length > 0) pages.set(page, bytes)
  }
  return pages
}

describe('state root', () => {
  it('does not depend on the order of writes', () => {
    fc.assert(
      fc.property(entries, fc.func(fc.nat()), (list, rank) => {
        const shuffled = [...list].sort((one, other) => rank(one) - rank(other))
        expect(treeOf(shuffled).root()).toBe(treeOf(list).root())
      })
    )
  })

  it('equals a naive recomputation, incrementally and built in one pass', () => {
    fc.assert(
      fc.property(entries, (list) => {
        const expected = naiveRoot(list)
        const sorted = [...list].sort(([one], [other]) => Buffer.compare(one, other))
        expect(treeOf(list).rootBytes()).toEqual(expected)
        expect(buildStateTree(sorted).rootBytes()).toEqual(expected)
        expect([...treeOf(list).entries()]).toEqual(sorted)
      })
    )
  })

  it('is back after a set and its delete, whatever roots were taken between', () => {
    fc.assert(
      fc.property(entries, entry, ([...list], [key, value]) => {
        const others = list.filter(([other]) => !other.equals(key))
        const tree = treeOf(others)
        const root = tree.root()
        const larger = tree.set(key, value)
        expect(larger.root()).not.toBe(root)
        expect(larger.get(key)).toEqual(value)
        expect(larger.delete(key).root()).toBe(root)
        expect(larger.delete(key).size).toBe(others.length)
        expect(tree.root()).toBe(root)
      })
    )
  })

  it('follows any sequence of sets, overwrites and deletes as a map does', () => {
    const step = fc.tuple(keyHash, fc.option(fc.nat({ max: 3 })))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let tree = StateTree.empty
        const map = new Map<string, Entry>()
        for (const [key, value] of steps) {
          const valueHash = hashValue(String(value))
          tree = value === null ? tree.delete(key) : tree.set(key, valueHash)
          if (value === null) map.delete(key.toString('hex'))
          else map.set(key.toString('hex'), [key, valueHash])
        }
        expect(tree.size).toBe(map.size)
        expect(tree.rootBytes()).toEqual(naiveRoot([...map.values()]))
        for (const [key, value] of map.values()) expect(tree.get(key)).toEqual(value)
      })
    )
  })

  it('is the same for the tree decoded from its pages', () => {
    fc.assert(
      fc.property(entries, (list) => {
        const tree = treeOf(list)
        const decoded = decodePages(pagesOf(tree))
        expect(decoded.root()).toBe(tree.root())
        expect(decoded.size).toBe(tree.size)
      }),
      { numRuns: 50 }
    )
  })

  it('changes only on pages that changedPages names', () => {
    fc.assert(
      fc.property(entries, entries, (list, changes) => {
        const before = treeOf(list)
        const after = changes.reduce(
          (tree, [key, value], index) =>
            index % 3 === 0 ? tree.delete(key) : tree.set(key, value),
          before
        )
        const named = changedPages(before, after)
        expect(named).toEqual([...new Set(named)].sort((one, other) => one - other))
        const pages = pagesOf(before)
        for (const page of named) {
          const bytes = Buffer.from(encodePage(after, page))
          if (bytes.length === 0) pages.delete(page)
          else pages.set(page, bytes)
        }
        expect(pages).toEqual(pagesOf(after))
        const touched = [...list, ...changes].map(([key]) => pageOf(key))
        expect(named.every((page) => touched.includes(page))).toBe(true)
      }),
      { numRuns: 50 }
    )
  })
})
