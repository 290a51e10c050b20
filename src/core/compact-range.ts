import type { Hash } from './brand.js'
import { sha256 } from './hash.js'

/**
 * The right edge of an RFC 6962 Merkle tree: enough to append leaves and to name the root, in
 * O(log n) memory. `peaks` are the roots of its perfect subtrees, largest first.
 */
export class CompactRange {
  #size: number
  readonly #peaks: Uint8Array[]

  constructor(
    saved: { readonly size: number; readonly peaks: readonly string[] } = { size: 0, peaks: [] }
  ) {
    this.#size = saved.size
    this.#peaks = saved.peaks.map((peak) => Buffer.from(peak, 'hex'))
  }

  get size(): number {
    return this.#size
  }

  /** Appends the hash of a leaf (already `sha256(0x00 || leaf)`). */
  append(leafHash: Uint8Array): void {
    appendLeaf(this.#peaks, this.#size, leafHash)
    this.#size += 1
  }

  /** The tree's root; sha256 of nothing when empty. */
  root(): Hash {
    return Buffer.from(rootOfPeaks(this.#peaks)).toString('hex') as Hash
  }

  /** What the constructor continues from. */
  save(): { readonly size: number; readonly peaks: readonly string[] } {
    return { size: this.#size, peaks: this.#peaks.map((peak) => Buffer.from(peak).toString('hex')) }
  }
}

/** Appends the hash of a leaf to the peaks of a tree of `size` leaves, in place. */
export function appendLeaf(peaks: Uint8Array[], size: number, leafHash: Uint8Array): void {
  let node = leafHash
  for (let full = size; full % 2 === 1; full = (full - 1) / 2) {
    node = innerNode(peaks.pop() ?? node, node)
  }
  peaks.push(node)
}

/** The root over peaks, largest first; sha256 of nothing when there are none. */
export function rootOfPeaks(peaks: readonly Uint8Array[]): Uint8Array {
  if (peaks.length === 0) return sha256('')
  return peaks.reduceRight((right, left) => innerNode(left, right))
}

/** sha256(0x00 || data): a leaf, RFC 6962 §2.1. */
export function leafNode(data: string | Uint8Array): Uint8Array {
  // The character U+0000 is the byte 0x00 in UTF-8.
  if (typeof data === 'string') return sha256(`\0${data}`)
  const preimage = new Uint8Array(data.length + 1)
  preimage.set(data, 1)
  return sha256(preimage)
}

/** Of two hashes, as almost always; hashed before anything else can write into it. */
const preimageOfTwo = new Uint8Array(65)

/** sha256(0x01 || left || right): an inner node of RFC 6962, and of ICS-23 `tendermintSpec`. */
export function innerNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  const length = left.length + right.length + 1
  const preimage = length === preimageOfTwo.length ? preimageOfTwo : new Uint8Array(length)
  preimage[0] = 0x01
  preimage.set(left, 1)
  preimage.set(right, left.length + 1)
  return sha256(preimage)
}
