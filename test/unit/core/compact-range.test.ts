import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CompactRange, leafNode } from '../../../src/core/index.js'

/** RFC 6962 §2.1, as written there. */
function treeHash(leaves: readonly string[]): Buffer {
  const sha = (...parts: (Buffer | string)[]) => {
    const hash = createHash('sha256')
    for (const part of parts) hash.update(part)
    return hash.digest()
  }
  if (leaves.length === 0) return sha('')
  if (leaves.length === 1) return sha(Buffer.from([0]), leaves[0] ?? '')
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return sha(Buffer.from([1]), treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)))
}

describe('CompactRange', () => {
  it('has the root of RFC 6962 at every size', () => {
    const leaves: string[] = []
    const range = new CompactRange()
    for (let size = 0; size <= 130; size += 1) {
      expect(range.root()).toBe(treeHash(leaves).toString('hex'))
      expect(range.size).toBe(size)
      leaves.push(`leaf ${size}`)
      range.append(leafNode(`leaf ${size}`))
    }
  })

  it('continues from what it saved', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (before, after) => {
        const range = new CompactRange()
        for (const leaf of before) range.append(leafNode(leaf))
        const restored = new CompactRange(JSON.parse(JSON.stringify(range.save())))
        for (const leaf of after) {
          range.append(leafNode(leaf))
          restored.append(leafNode(leaf))
        }
        expect(restored.root()).toBe(range.root())
      })
    )
  })
})
