import type { Hash } from '../../core/index.js'
import {
  type Bytes32,
  differingBit,
  digestOf,
  firstLeaf,
  isBitSet,
  type LeafNode,
  lastLeaf,
  nearestLeaf,
  type TreeNode
} from './node.js'
import { hashKey, type StateTree, toBytes32 } from './tree.js'

/** The other child at one level, named by the side on which it stands. */
export type Sibling = { readonly left: Hash } | { readonly right: Hash }

/** One entry with its siblings from the leaf up to the root. */
export interface LeafProof {
  readonly keyHash: Hash
  readonly valueHash: Hash
  readonly path: readonly Sibling[]
}

/** Shows that a key has a value in the tree of a storage root. */
export interface MembershipProof {
  readonly version: 1
  readonly type: 'membership'
  readonly leaf: LeafProof
}

/**
 * Shows that a key is not in the tree: its neighbours `left` (greatest smaller key hash) and
 * `right` (least greater one) stand side by side. Null where there is none; both null for the empty
 * tree.
 */
export interface AbsenceProof {
  readonly version: 1
  readonly type: 'absence'
  readonly keyHash: Hash
  readonly left: LeafProof | null
  readonly right: LeafProof | null
}

export type StateProof = MembershipProof | AbsenceProof

/** The proof that a key is in the tree, or undefined when it is not. */
export function proveMembership(tree: StateTree, key: string): MembershipProof | undefined {
  const keyHash = toBytes32(hashKey(key))
  if (tree.top === undefined || nearestLeaf(tree.top, keyHash).keyHash !== keyHash) return undefined
  return { version: 1, type: 'membership', leaf: leafProof(tree.top, keyHash) }
}

/** The proof that a key is not in the tree, or undefined when it is. */
export function proveAbsence(tree: StateTree, key: string): AbsenceProof | undefined {
  const keyHash = toBytes32(hashKey(key))
  const top = tree.top
  if (top === undefined) return absence(keyHash, null, null)
  const bit = differingBit(nearestLeaf(top, keyHash).keyHash, keyHash)
  if (bit === -1) return undefined
  const { left, right } = neighbours(top, keyHash, bit)
  return absence(
    keyHash,
    left === undefined ? null : leafProof(top, left.keyHash),
    right === undefined ? null : leafProof(top, right.keyHash)
  )
}

/** Neighbours of an absent key whose branch leaves the tree at `bit`. */
function neighbours(
  top: TreeNode,
  keyHash: Bytes32,
  bit: number
): { readonly left: LeafNode | undefined; readonly right: LeafNode | undefined } {
  let node = top
  let smaller: TreeNode | undefined
  let greater: TreeNode | undefined
  while (node.left !== undefined && node.bit < bit) {
    if (isBitSet(keyHash, node.bit)) {
      smaller = node.left
      node = node.right
    } else {
      greater = node.right
      node = node.left
    }
  }
  // Every key below `node` has the other value at `bit`, so all of it lies on one side.
  if (isBitSet(keyHash, bit)) smaller = node
  else greater = node
  return {
    left: smaller === undefined ? undefined : lastLeaf(smaller),
    right: greater === undefined ? undefined : firstLeaf(greater)
  }
}

function leafProof(top: TreeNode, keyHash: Bytes32): LeafProof {
  const path: Sibling[] = []
  let node = top
  while (node.left !== undefined) {
    if (isBitSet(keyHash, node.bit)) {
      path.push({ left: hexOf(digestOf(node.left)) })
      node = node.right
    } else {
      path.push({ right: hexOf(digestOf(node.right)) })
      node = node.left
    }
  }
  return { keyHash: hexOf(node.keyHash), valueHash: hexOf(node.valueHash), path: path.reverse() }
}

function absence(keyHash: Bytes32, left: LeafProof | null, right: LeafProof | null): AbsenceProof {
  return { version: 1, type: 'absence', keyHash: hexOf(keyHash), left, right }
}

function hexOf(bytes: Bytes32): Hash {
  return Buffer.from(bytes, 'latin1').toString('hex') as Hash
}
