import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sha256, sha256Hex } from '../../../../src/core/index.js'
import {
  buildStateTree,
  emptyStorageRoot,
  hashInstalledDApps,
  hashKey,
  hashValue,
  StateTree,
  stateRoot
} from '../../../../src/ledger/state/index.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/state-tree.json', import.meta.url), 'utf8')
)

function treeOf(entries: readonly { key: string; valueText: string }[]): StateTree {
  return entries.reduce(
    (tree, { key, valueText }) => tree.set(hashKey(key), hashValue(valueText)),
    StateTree.empty
  )
}

describe('StateTree', () => {
  it('has the roots of the committed vectors', () => {
    for (const { entries, root } of vectors.trees) {
      const tree = treeOf(entries)
      expect(tree.root()).toBe(root)
      expect(tree.rootBytes().toString('hex')).toBe(root)
      expect(tree.size).toBe(entries.length)
    }
  })

  it('has the hash of nothing as root while it is empty', () => {
    expect(StateTree.empty.root()).toBe(vectors.emptyRoot)
    expect(emptyStorageRoot).toBe(vectors.emptyRoot)
  })

  it('hashes one leaf as formats.md §4 says', () => {
    const tree = StateTree.empty.set(hashKey('a'), hashValue('1'))
    const leaf = Buffer.concat([
      Buffer.from([0x00, 0x20]),
      sha256('a'),
      Buffer.from([0x20]),
      sha256('1')
    ])
    expect(tree.root()).toBe(sha256Hex(leaf))
  })

  it('L1: keeps an older tree valid when a newer one is made from it', () => {
    const older = treeOf(vectors.trees[4].entries)
    const root = older.root()
    const newer = older.set(hashKey('key-1'), hashValue('"changed"')).delete(hashKey('key-2'))
    expect(newer.root()).not.toBe(root)
    expect(older.root()).toBe(root)
    expect(older.size).toBe(40)
    expect(newer.size).toBe(39)
    expect(older.get(hashKey('key-2'))).toEqual(hashValue('2'))
    expect(newer.get(hashKey('key-2'))).toBeUndefined()
  })

  it('is the same tree after a write that changes nothing', () => {
    const tree = treeOf(vectors.trees[4].entries)
    expect(tree.set(hashKey('key-3'), hashValue('3'))).toBe(tree)
    expect(tree.delete(hashKey('absent'))).toBe(tree)
    expect(StateTree.empty.delete(hashKey('absent'))).toBe(StateTree.empty)
  })

  it('is empty again once its last key is deleted', () => {
    const tree = StateTree.empty.set(hashKey('a'), hashValue('1')).delete(hashKey('a'))
    expect(tree).toBe(StateTree.empty)
    expect(tree.get(hashKey('a'))).toBeUndefined()
  })

  it('takes hashes that are not Buffers, and views into larger ones', () => {
    const large = new Uint8Array(100)
    large.set(hashKey('a'), 7)
    const tree = StateTree.empty.set(large.subarray(7, 39), Uint8Array.from(hashValue('1')))
    expect(tree.root()).toBe(treeOf([{ key: 'a', valueText: '1' }]).root())
  })

  it('refuses hashes of another length', () => {
    expect(() => StateTree.empty.set(Buffer.alloc(31), hashValue('1'))).toThrow(/32 bytes/)
    expect(() => StateTree.empty.set(hashKey('a'), Buffer.alloc(33))).toThrow(/32 bytes/)
  })

  it('lists its entries in order of key hashes, ready for the linear builder', () => {
    const tree = treeOf(vectors.trees[4].entries)
    const entries = [...tree.entries()]
    const sorted = entries.toSorted(([one], [other]) => Buffer.compare(one, other))
    expect(entries).toEqual(sorted)
    expect(buildStateTree(entries).root()).toBe(tree.root())
  })

  it('refuses to build from entries out of order or repeated', () => {
    const entries = [...treeOf(vectors.trees[4].entries).entries()]
    expect(() => buildStateTree(entries.toReversed())).toThrow(/ascending/)
    expect(() => buildStateTree([...entries.slice(0, 1), ...entries])).toThrow(/ascending/)
  })

  it('splits keys that differ in the last bit only', () => {
    const low = Buffer.alloc(32, 0xff)
    low[31] = 0xfe
    const high = Buffer.alloc(32, 0xff)
    const tree = StateTree.empty.set(high, hashValue('1')).set(low, hashValue('2'))
    const built = buildStateTree([
      [low, hashValue('2')],
      [high, hashValue('1')]
    ])
    expect(tree.root()).toBe(built.root())
    expect(tree.delete(low).root()).toBe(StateTree.empty.set(high, hashValue('1')).root())
  })
})

describe('stateRoot', () => {
  it('has the roots of the committed vectors', () => {
    for (const { installed, installedDApps, parts, text, root } of vectors.stateRoots) {
      expect(hashInstalledDApps(installed)).toBe(installedDApps)
      expect(stateRoot({ ...parts, installedDApps })).toBe(root)
      expect(sha256Hex(text)).toBe(root)
    }
  })

  it('does not depend on the order of installed packages, and refuses one installed twice', () => {
    const { installed, installedDApps } = vectors.stateRoots[1]
    expect(hashInstalledDApps(installed.toReversed())).toBe(installedDApps)
    expect(() => hashInstalledDApps([...installed, installed[0]])).toThrow(/twice/)
  })

  it('refuses versions that are not integers', () => {
    const { parts, installedDApps } = vectors.stateRoots[0]
    expect(() => stateRoot({ ...parts, installedDApps, capabilityVersion: 1.5 })).toThrow(/version/)
  })
})
