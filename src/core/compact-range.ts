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
    let node = leafHash
    for (let full = this.#size; full % 2 === 1; full = (full - 1) / 2) {
      node = innerNode(this.#peaks.pop() ?? node, node)
    }
    this.#peaks.push(node)
    this.#size += 1
  }

  /** The tree's root; sha256 of nothing when empty. */
  root(): Hash {
    const last = this.#peaks.at(-1)
    if (last === undefined) return sha256('').toString('hex') as Hash
    let node = last
    for (let index = this.#peaks.length - 2; index >= 0; index -= 1) {
      node = innerNode(this.#peaks[index] ?? node, node)
    }
    return Buffer.from(node).toString('hex') as Hash
  }

  /** What the constructor takes up again. */
  save(): { readonly size: number; readonly peaks: readonly string[] } {
    return { size: this.#size, peaks: this.#peaks.map((peak) => Buffer.from(peak).toString('hex')) }
  }
}

/** sha256(0x00 || data), RFC 6962 §2.1. */
export function leafNode(data: string | Uint8Array): Uint8Array {
  // The character U+0000 is the byte 0x00 in UTF-8.
  if (typeof data === 'string') return sha256(`\0${data}`)
  const preimage = new Uint8Array(data.length + 1)
  preimage.set(data, 1)
  return sha256(preimage)
}

function innerNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  const preimage = new Uint8Array(left.length + right.length + 1)
  preimage[0] = 0x01
  preimage.set(left, 1)
  preimage.set(right, left.length + 1)
  return sha256(preimage)
}
