import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  changedPages,
  decodePages,
  encodePage,
  hashKey,
  hashValue,
  pageOf,
  STATE_PAGE_COUNT,
  StateTree
} from '../../../../src/ledger/state/index.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/state-tree.json', import.meta.url), 'utf8')
)

function treeOfSize(size: number): StateTree {
  let tree = StateTree.empty
  for (let index = 0; index < size; index += 1) {
    tree = tree.set(hashKey(`key-${index}`), hashValue(String(index)))
  }
  return tree
}

function allPages(tree: StateTree): [number, Uint8Array][] {
  return Array.from({ length: STATE_PAGE_COUNT }, (_, page): [number, Uint8Array] => [
    page,
    encodePage(tree, page)
  ])
}

describe('state pages', () => {
  it('has the bytes of the committed vectors', () => {
    for (const { entries, pages } of vectors.trees) {
      let tree = StateTree.empty
      for (const { key, valueText } of entries) tree = tree.set(hashKey(key), hashValue(valueText))
      for (const [page, hex] of pages) {
        expect(Buffer.from(encodePage(tree, page)).toString('hex')).toBe(hex)
        expect(pageOf(Buffer.from(hex.slice(0, 64), 'hex'))).toBe(page)
      }
    }
  })

  it('decodes what it encoded to the same tree', () => {
    for (const size of [0, 1, 2, 5_000]) {
      const tree = treeOfSize(size)
      const decoded = decodePages(allPages(tree))
      expect(decoded.root()).toBe(tree.root())
      expect(decoded.size).toBe(size)
    }
  })

  it('puts each entry on the page of its key and on no other', () => {
    const tree = treeOfSize(300)
    const pages = allPages(tree)
    expect(pages.reduce((total, [, bytes]) => total + bytes.length, 0)).toBe(300 * 64)
    for (const [page, bytes] of pages) {
      for (let offset = 0; offset < bytes.length; offset += 64) {
        expect(pageOf(bytes.subarray(offset))).toBe(page)
      }
    }
  })

  it('refuses pages that are cut off, swapped, repeated or filed under another number', () => {
    const pages = allPages(treeOfSize(300)).filter(([, bytes]) => bytes.length > 0)
    const [first, second] = pages
    if (first === undefined || second === undefined) throw new Error('no pages')
    expect(() => decodePages([[first[0], first[1].subarray(0, 63)]])).toThrow(/64 bytes/)
    expect(() => decodePages([second, first])).toThrow(/ascending/)
    expect(() => decodePages([first, first])).toThrow(/ascending/)
    expect(() => decodePages([[first[0] + 1, first[1]]])).toThrow(/another page/)
  })

  it('refuses page numbers out of range', () => {
    expect(() => encodePage(StateTree.empty, 4_096)).toThrow(/range/)
    expect(() => encodePage(StateTree.empty, -1)).toThrow(/range/)
  })

  it('names no changed page between a tree and itself, and all pages of a new tree', () => {
    const tree = treeOfSize(50)
    const used = allPages(tree).flatMap(([page, bytes]) => (bytes.length > 0 ? [page] : []))
    expect(changedPages(tree, tree)).toEqual([])
    expect(changedPages(StateTree.empty, tree)).toEqual(used)
    expect(changedPages(tree, StateTree.empty)).toEqual(used)
  })

  it('names just the page of one changed, added or deleted key in a large tree', () => {
    const tree = treeOfSize(20_000)
    for (const key of ['key-7', 'new']) {
      const page = pageOf(hashKey(key))
      const changed = tree.set(hashKey(key), hashValue('"other"'))
      expect(changedPages(tree, changed)).toEqual([page])
      expect(changedPages(changed, changed.delete(hashKey(key)))).toEqual([page])
    }
  })
})
