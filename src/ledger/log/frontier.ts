import { appendLeaf, assert, type Hash, leafNode, rootOfPeaks } from '../../core/index.js'

/** sha256(0x00 || record): a leaf of the log, of the canonical JSON text of a signed record. */
export const leafHash: (record: string | Uint8Array) => Uint8Array = leafNode

/**
 * The right edge of the log, an RFC 6962 tree: all that is needed to append to it and to know its
 * root.
 *
 * Invariants:
 * 1. Persistent: `append` returns a new frontier, so a batch that fails leaves the old one valid.
 * 2. It holds one hash for each 1 bit of `size`, the largest complete subtree first; O(log n).
 */
export class LogFrontier {
  static readonly empty = new LogFrontier(0, [])

  /** Leaves so far. */
  readonly size: number
  /** Roots of the complete subtrees, from left to right. */
  readonly #subtrees: readonly Uint8Array[]

  private constructor(size: number, subtrees: readonly Uint8Array[]) {
    this.size = size
    this.#subtrees = subtrees
  }

  /** The frontier with one more leaf, given its {@link leafHash}. */
  append(leaf: Uint8Array): LogFrontier {
    return this.appendAll([leaf])
  }

  /** The frontier with more leaves, in order. */
  appendAll(leaves: readonly Uint8Array[]): LogFrontier {
    const subtrees = this.#subtrees.slice()
    let { size } = this
    for (const leaf of leaves) {
      assert(leaf.length === 32, 'a leaf hash is not 32 bytes long')
      appendLeaf(subtrees, size, leaf)
      size += 1
    }
    return new LogFrontier(size, subtrees)
  }

  /** RFC 6962 tree hash as hex; sha256("") of an empty log. */
  root(): Hash {
    return Buffer.from(this.rootBytes()).toString('hex') as Hash
  }

  /** RFC 6962 tree hash as 32 bytes. */
  rootBytes(): Uint8Array {
    return rootOfPeaks(this.#subtrees)
  }

  /**
   * The subtree roots, 32 bytes each, from left to right; {@link LogFrontier.decode} needs `size`.
   */
  encode(): Uint8Array {
    return Buffer.concat(this.#subtrees)
  }

  /** The frontier of a size and its encoded subtree roots; undefined when the two do not fit. */
  static decode(size: number, bytes: Uint8Array): LogFrontier | undefined {
    if (!Number.isSafeInteger(size) || size < 0) return undefined
    if (bytes.length !== 32 * countOnes(size)) return undefined
    const subtrees: Uint8Array[] = []
    for (let offset = 0; offset < bytes.length; offset += 32) {
      subtrees.push(Uint8Array.from(bytes.subarray(offset, offset + 32)))
    }
    return new LogFrontier(size, subtrees)
  }

  /** The frontier of a log of `size` leaves whose tiles are stored. */
  static fromHashes(size: number, readHash: ReadHash): LogFrontier {
    return new LogFrontier(
      size,
      completeSubtrees(0, size).map(({ level, index }) => readHash(level, index))
    )
  }
}

/**
 * Root of the complete subtree of 2^level leaves that begins at leaf `index * 2^level`: 32 bytes.
 * Level 0 are the leaf hashes themselves.
 */
export type ReadHash = (level: number, index: number) => Uint8Array

/**
 * The complete subtrees that make up leaves `from` <= leaf < `to`, where `from` is aligned (RFC
 * 6962 §2.1).
 */
export function completeSubtrees(
  from: number,
  to: number
): readonly { readonly level: number; readonly index: number }[] {
  const subtrees: { level: number; index: number }[] = []
  let start = from
  while (start < to) {
    let level = 0
    let width = 1
    while (width * 2 <= to - start && start % (width * 2) === 0) {
      width *= 2
      level += 1
    }
    subtrees.push({ level, index: start / width })
    start += width
  }
  return subtrees
}

function countOnes(size: number): number {
  let ones = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
  return ones
}
