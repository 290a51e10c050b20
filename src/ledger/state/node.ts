import * as crypto from 'node:crypto'

/**
 * Nodes of the state tree. Hashes and keys are 32-character latin1 strings, one character a byte: a
 * quarter of the memory of a Buffer, and `crypto.hash` returns one ('binary') four times as fast.
 * A node never changes, except that its digest is filled in when it is first asked for.
 */
export type TreeNode = LeafNode | InnerNode

/** 32 bytes as latin1 text. */
export type Bytes32 = string

export class LeafNode {
  readonly keyHash: Bytes32
  readonly valueHash: Bytes32
  readonly left = undefined
  digest: Bytes32 | undefined = undefined

  constructor(keyHash: Bytes32, valueHash: Bytes32) {
    this.keyHash = keyHash
    this.valueHash = valueHash
  }
}

export class InnerNode {
  /** First bit in which the keys of the two children differ: 0 is the top bit of the first byte. */
  readonly bit: number
  /** Keys with a 0 at `bit`. */
  readonly left: TreeNode
  /** Keys with a 1 at `bit`. */
  readonly right: TreeNode
  digest: Bytes32 | undefined = undefined

  constructor(bit: number, left: TreeNode, right: TreeNode) {
    this.bit = bit
    this.left = left
    this.right = right
  }
}

/** Whether the bit of a key is 1. */
export function isBitSet(key: Bytes32, bit: number): boolean {
  return ((key.charCodeAt(bit >> 3) >> (7 - (bit & 7))) & 1) === 1
}

/** First bit in which two keys differ, or -1 when they are equal. */
export function differingBit(one: Bytes32, other: Bytes32): number {
  for (let index = 0; index < 32; index += 1) {
    const difference = one.charCodeAt(index) ^ other.charCodeAt(index)
    if (difference !== 0) return index * 8 + Math.clz32(difference) - 24
  }
  return -1
}

/** The leaf reached by following a key; any leaf of the tree shares the branches taken. */
export function nearestLeaf(node: TreeNode, key: Bytes32): LeafNode {
  let at = node
  while (at.left !== undefined) at = isBitSet(key, at.bit) ? at.right : at.left
  return at
}

export function firstLeaf(node: TreeNode): LeafNode {
  let at = node
  while (at.left !== undefined) at = at.left
  return at
}

export function lastLeaf(node: TreeNode): LeafNode {
  let at = node
  while (at.left !== undefined) at = at.right
  return at
}

// Preimages are written into these. Each is filled and hashed within one synchronous stretch that
// first computes the digests it needs, so no two preimages are ever under construction at once.
const leafPreimage = Buffer.alloc(67)
leafPreimage[1] = 0x20
leafPreimage[34] = 0x20
const innerPreimage = Buffer.alloc(65)
innerPreimage[0] = 0x01

/** The digest of a node, computed once (formats.md §4). */
export function digestOf(node: TreeNode): Bytes32 {
  if (node.digest !== undefined) return node.digest
  if (node.left === undefined) {
    leafPreimage.write(node.keyHash, 2, 32, 'latin1')
    leafPreimage.write(node.valueHash, 35, 32, 'latin1')
    node.digest = crypto.hash('sha256', leafPreimage, 'binary')
  } else {
    const left = digestOf(node.left)
    const right = digestOf(node.right)
    innerPreimage.write(left, 1, 32, 'latin1')
    innerPreimage.write(right, 33, 32, 'latin1')
    node.digest = crypto.hash('sha256', innerPreimage, 'binary')
  }
  return node.digest
}
