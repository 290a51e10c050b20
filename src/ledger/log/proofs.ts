import {
  type Hash,
  innerNode,
  isHash,
  ledgerError,
  sha256,
  type TallyError
} from '../../core/index.js'
import { bytesToHex, hexToBytes } from '../merkle.js'
import { completeSubtrees, type ReadHash } from './frontier.js'

/**
 * Inclusion and consistency proofs of RFC 6962 §2.1; the checks are those of RFC 9162 §2.1.3.2 and
 * §2.1.4.2. Sizes and indexes are integers up to 2^53 - 1, so no bit operators are used on them.
 */

/** Sibling hashes from the leaf up: record `index` stands in the log of `size` records. */
export function inclusionProof(index: number, size: number, readHash: ReadHash): readonly Hash[] {
  if (!isCount(size) || !isCount(index) || index >= size) throw outOfRange(`record ${index}`, size)
  return inclusionPath({ index, from: 0, to: size, readHash }).map((hash) => bytesToHex<Hash>(hash))
}

/** Hashes that show the log of `first` records to be the beginning of the log of `second`. */
export function consistencyProof(
  first: number,
  second: number,
  readHash: ReadHash
): readonly Hash[] {
  if (!isCount(first) || !isCount(second) || first > second) {
    throw outOfRange(`its first ${first} records`, second)
  }
  if (first === 0 || first === second) return []
  return consistencyPath({ first, from: 0, to: second, isOldTree: true, readHash }).map((hash) =>
    bytesToHex<Hash>(hash)
  )
}

/**
 * Whether the proof shows that a leaf stands at `index` in the tree of `size` leaves and this root.
 */
export function verifyInclusion(options: {
  readonly index: number
  readonly size: number
  /** {@link leafHash} of the record. */
  readonly leaf: Uint8Array
  readonly proof: readonly Hash[]
  readonly root: Hash
}): boolean {
  const { index, size, leaf, proof, root } = options
  if (!isCount(index) || !isCount(size) || index >= size || !proof.every(isHash)) return false
  let node = index
  let last = size - 1
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      hash = innerNode(hexToBytes(sibling), hash)
      while (node % 2 === 0 && node !== 0) {
        node = half(node)
        last = half(last)
      }
    } else {
      hash = innerNode(hash, hexToBytes(sibling))
    }
    node = half(node)
    last = half(last)
  }
  return last === 0 && bytesToHex<Hash>(hash) === root
}

/**
 * Whether the proof shows that the tree of `firstSize` leaves is the beginning of the other.
 * The empty tree is the beginning of every tree, with an empty proof.
 */
export function verifyConsistency(options: {
  readonly firstSize: number
  readonly firstRoot: Hash
  readonly secondSize: number
  readonly secondRoot: Hash
  readonly proof: readonly Hash[]
}): boolean {
  const { firstSize, firstRoot, secondSize, secondRoot, proof } = options
  if (!isCount(firstSize) || !isCount(secondSize) || firstSize > secondSize) return false
  if (!proof.every(isHash)) return false
  const emptyRoot = bytesToHex<Hash>(sha256(''))
  if (secondSize === 0 && secondRoot !== emptyRoot) return false
  if (firstSize === 0) return proof.length === 0 && firstRoot === emptyRoot
  if (firstSize === secondSize) return proof.length === 0 && firstRoot === secondRoot
  const roots = consistentRoots(options)
  return roots !== undefined && roots.first === firstRoot && roots.second === secondRoot
}

/** The two roots that a consistency proof gives, for 0 < firstSize < secondSize. */
function consistentRoots(options: {
  readonly firstSize: number
  readonly firstRoot: Hash
  readonly secondSize: number
  readonly proof: readonly Hash[]
}): { readonly first: Hash; readonly second: Hash } | undefined {
  // A power of two is itself a node of the later tree, and the proof does not repeat its root.
  const path = isPowerOfTwo(options.firstSize)
    ? [options.firstRoot, ...options.proof]
    : options.proof
  const [seed, ...siblings] = path
  if (seed === undefined) return undefined
  let node = options.firstSize - 1
  let last = options.secondSize - 1
  while (node % 2 === 1) {
    node = half(node)
    last = half(last)
  }
  let first = hexToBytes(seed)
  let second = first
  for (const text of siblings) {
    if (last === 0) return undefined
    const sibling = hexToBytes(text)
    if (node % 2 === 1 || node === last) {
      first = innerNode(sibling, first)
      second = innerNode(sibling, second)
      while (node % 2 === 0 && node !== 0) {
        node = half(node)
        last = half(last)
      }
    } else {
      second = innerNode(second, sibling)
    }
    node = half(node)
    last = half(last)
  }
  return last === 0 ? { first: bytesToHex(first), second: bytesToHex(second) } : undefined
}

interface Span {
  readonly from: number
  readonly to: number
  readonly readHash: ReadHash
}

function inclusionPath({ index, ...span }: Span & { index: number }): readonly Uint8Array[] {
  if (span.to - span.from === 1) return []
  const middle = span.from + splitWidth(span.to - span.from)
  const lower = { ...span, to: middle }
  const upper = { ...span, from: middle }
  return index < middle
    ? [...inclusionPath({ index, ...lower }), rootOf(upper)]
    : [...inclusionPath({ index, ...upper }), rootOf(lower)]
}

/** SUBPROOF of RFC 6962 §2.1.2: `isOldTree` while the span is one whose root the verifier has. */
function consistencyPath({
  first,
  isOldTree,
  ...span
}: Span & { first: number; isOldTree: boolean }): readonly Uint8Array[] {
  if (first === span.to) return isOldTree ? [] : [rootOf(span)]
  const middle = span.from + splitWidth(span.to - span.from)
  const lower = { ...span, to: middle }
  const upper = { ...span, from: middle }
  return first <= middle
    ? [...consistencyPath({ first, isOldTree, ...lower }), rootOf(upper)]
    : [...consistencyPath({ first, isOldTree: false, ...upper }), rootOf(lower)]
}

function rootOf({ from, to, readHash }: Span): Uint8Array {
  return completeSubtrees(from, to)
    .map(({ level, index }) => readHash(level, index))
    .reduceRight((right, left) => innerNode(left, right))
}

/** Largest power of two below `size`. */
function splitWidth(size: number): number {
  let width = 1
  while (width * 2 < size) width *= 2
  return width
}

function isPowerOfTwo(size: number): boolean {
  let width = 1
  while (width < size) width *= 2
  return width === size
}

function half(value: number): number {
  return Math.floor(value / 2)
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function outOfRange(part: string, size: number): TallyError {
  return ledgerError('ledger.proof_out_of_range', { part, size })
}
