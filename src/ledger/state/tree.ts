import { assert, type Hash, sha256, sha256Hex } from '../../core/index.js'
import {
  type Bytes32,
  differingBit,
  digestOf,
  InnerNode,
  isBitSet,
  LeafNode,
  nearestLeaf,
  type TreeNode
} from './node.js'

/**
 * The authenticated state of one identity (formats.md §4): a crit-bit Merkle tree over sha256(key).
 *
 * Owns: which key hashes are present, with which value hashes, and the storage root. Does not own
 * the keys and values themselves, nor persistence (`pages.ts` turns a tree into bytes and back).
 *
 * Invariants:
 * 1. Persistent: `set` and `delete` return a new tree that shares all untouched nodes; an old tree
 *    stays valid, so each queued commit can keep its root (L1).
 * 2. The shape, and so the root, depends on the entries only, never on the order of writes.
 * 3. An inner node has two children and splits at the first bit in which their keys differ.
 * 4. A digest is computed once a node, and only when a root is asked for.
 */
export class StateTree {
  static readonly empty = new StateTree(undefined, 0)

  /** Number of keys. */
  readonly size: number
  /** For the files of this folder only. */
  readonly top: TreeNode | undefined

  constructor(top: TreeNode | undefined, size: number) {
    this.top = top
    this.size = size
  }

  /** The value hash of a key hash (32 bytes each), or undefined. */
  get(keyHash: Uint8Array): Buffer | undefined {
    if (this.top === undefined) return undefined
    const key = toBytes32(keyHash)
    const leaf = nearestLeaf(this.top, key)
    return leaf.keyHash === key ? Buffer.from(leaf.valueHash, 'latin1') : undefined
  }

  /**
   * A tree in which the key hash has this value hash; the same tree when it already has. O(log n).
   */
  set(keyHash: Uint8Array, valueHash: Uint8Array): StateTree {
    const leaf = new LeafNode(toBytes32(keyHash), toBytes32(valueHash))
    if (this.top === undefined) return new StateTree(leaf, 1)
    const nearest = nearestLeaf(this.top, leaf.keyHash)
    const bit = differingBit(nearest.keyHash, leaf.keyHash)
    if (bit !== -1) return new StateTree(inserted(this.top, leaf, bit), this.size + 1)
    if (nearest.valueHash === leaf.valueHash) return this
    return new StateTree(replaced(this.top, leaf), this.size)
  }

  /** A tree without the key hash; the same tree when it has none. O(log n). */
  delete(keyHash: Uint8Array): StateTree {
    if (this.top === undefined) return this
    const key = toBytes32(keyHash)
    if (nearestLeaf(this.top, key).keyHash !== key) return this
    return this.size === 1 ? StateTree.empty : new StateTree(removed(this.top, key), this.size - 1)
  }

  /** The storage root, as hex. Hashes only the nodes that no earlier root covered. */
  root(): Hash {
    if (this.top === undefined) return emptyStorageRoot
    return this.rootBytes().toString('hex') as Hash
  }

  /** The storage root, as 32 bytes. */
  rootBytes(): Buffer {
    return this.top === undefined ? sha256('') : Buffer.from(digestOf(this.top), 'latin1')
  }

  /** Key hash and value hash of every entry, in ascending order of key hashes. */
  *entries(): Generator<readonly [keyHash: Buffer, valueHash: Buffer]> {
    const stack = this.top === undefined ? [] : [this.top]
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (node.left === undefined) {
        yield [Buffer.from(node.keyHash, 'latin1'), Buffer.from(node.valueHash, 'latin1')]
      } else {
        stack.push(node.right, node.left)
      }
    }
  }
}

/** sha256 of a state key's UTF-8 bytes: where the key stands in the tree. */
export function hashKey(key: string): Buffer {
  return sha256(key)
}

/** sha256 of a value's canonical JSON text. */
export function hashValue(canonicalText: string): Buffer {
  return sha256(canonicalText)
}

/** Storage root of a state without keys: sha256(""). */
export const emptyStorageRoot: Hash = sha256Hex('')

export function toBytes32(bytes: Uint8Array): Bytes32 {
  assert(bytes.length === 32, 'a hash in the state tree is not 32 bytes long')
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('latin1')
}

/** Joins a leaf to a subtree whose keys first differ from it at `bit`. */
export function join(node: TreeNode, leaf: LeafNode, bit: number): InnerNode {
  return isBitSet(leaf.keyHash, bit)
    ? new InnerNode(bit, node, leaf)
    : new InnerNode(bit, leaf, node)
}

function inserted(node: TreeNode, leaf: LeafNode, bit: number): InnerNode {
  if (node.left === undefined || node.bit > bit) return join(node, leaf, bit)
  return isBitSet(leaf.keyHash, node.bit)
    ? new InnerNode(node.bit, node.left, inserted(node.right, leaf, bit))
    : new InnerNode(node.bit, inserted(node.left, leaf, bit), node.right)
}

function replaced(node: TreeNode, leaf: LeafNode): TreeNode {
  if (node.left === undefined) return leaf
  return isBitSet(leaf.keyHash, node.bit)
    ? new InnerNode(node.bit, node.left, replaced(node.right, leaf))
    : new InnerNode(node.bit, replaced(node.left, leaf), node.right)
}

function removed(node: TreeNode, key: Bytes32): TreeNode | undefined {
  if (node.left === undefined) return undefined
  if (isBitSet(key, node.bit)) {
    const right = removed(node.right, key)
    return right === undefined ? node.left : new InnerNode(node.bit, node.left, right)
  }
  const left = removed(node.left, key)
  return left === undefined ? node.right : new InnerNode(node.bit, left, node.right)
}
