import { type Hash, innerNode, sha256, sha256Hex } from '../../core/index.js'
import { bytesToHex, hexToBytes } from '../merkle.js'
import type { AbsenceProof, LeafProof, MembershipProof, Sibling } from './proof.js'

/**
 * Checks of state proofs, the same as ICS-23 makes with `tendermintSpec`. They need the proof, the
 * storage root and what is claimed, and no tree. Sound for a root that was recomputed from the
 * entries; a signer who builds an unsorted tree could make false absence proofs (formats.md §4).
 */

/** Whether the proof shows that `key` has the value of this canonical text under the root. */
export function verifyMembership(options: {
  readonly proof: MembershipProof
  readonly root: Hash
  readonly key: string
  /** Canonical JSON of the value. */
  readonly valueText: string
}): boolean {
  const { leaf } = options.proof
  return (
    leaf.keyHash === sha256Hex(options.key) &&
    leaf.valueHash === sha256Hex(options.valueText) &&
    rootOf(leaf) === options.root
  )
}

/** Whether the proof shows that `key` is not in the tree of the root. */
export function verifyAbsence(options: {
  readonly proof: AbsenceProof
  readonly root: Hash
  readonly key: string
}): boolean {
  const { keyHash, left, right } = options.proof
  if (keyHash !== sha256Hex(options.key)) return false
  if (left === null && right === null) return options.root === sha256Hex('')
  if (left !== null && !(left.keyHash < keyHash && rootOf(left) === options.root)) return false
  if (right !== null && !(keyHash < right.keyHash && rootOf(right) === options.root)) return false
  if (left === null) return right?.path.every(isRightSibling) ?? false
  if (right === null) return left.path.every(isLeftSibling)
  return areAdjacent(left.path, right.path)
}

/** The root that a leaf and its siblings give. */
function rootOf({ keyHash, valueHash, path }: LeafProof): Hash {
  const leaf = new Uint8Array(67)
  leaf[1] = 0x20
  leaf.set(hexToBytes(keyHash), 2)
  leaf[34] = 0x20
  leaf.set(hexToBytes(valueHash), 35)
  let hash: Uint8Array = sha256(leaf)
  for (const sibling of path) {
    hash =
      'left' in sibling
        ? innerNode(hexToBytes(sibling.left), hash)
        : innerNode(hash, hexToBytes(sibling.right))
  }
  return bytesToHex<Hash>(hash)
}

/** Whether no leaf can stand between two leaves whose proofs lead to one root. */
function areAdjacent(left: readonly Sibling[], right: readonly Sibling[]): boolean {
  let fromTop = 1
  while (isSame(left.at(-fromTop), right.at(-fromTop))) fromTop += 1
  const leftFork = left.at(-fromTop)
  const rightFork = right.at(-fromTop)
  return (
    leftFork !== undefined &&
    rightFork !== undefined &&
    isRightSibling(leftFork) &&
    isLeftSibling(rightFork) &&
    left.slice(0, left.length - fromTop).every(isLeftSibling) &&
    right.slice(0, right.length - fromTop).every(isRightSibling)
  )
}

function isSame(one: Sibling | undefined, other: Sibling | undefined): boolean {
  if (one === undefined || other === undefined) return false
  return 'left' in one
    ? 'left' in other && one.left === other.left
    : 'right' in other && one.right === other.right
}

function isLeftSibling(sibling: Sibling): boolean {
  return 'left' in sibling
}

function isRightSibling(sibling: Sibling): boolean {
  return 'right' in sibling
}
