import { ledgerError, present } from '../../core/index.js'
import { type Bytes32, differingBit, InnerNode, LeafNode, type TreeNode } from './node.js'
import { StateTree, toBytes32 } from './tree.js'

/** Lies above every split, so that closing at it closes everything. */
const ABOVE_ALL_BITS = -1

/**
 * Builds a tree from entries in ascending order of key hashes, in linear time: the open right edge
 * is kept on a stack, and a subtree is closed as soon as a key arrives that cannot belong to it.
 * Throws `ledger.malformed_state_page` when an entry is out of order or repeated.
 */
export class StateTreeBuilder {
  /** Subtrees of the right edge; each is the left child of the split at `splits` of its place. */
  #open: TreeNode[] = []
  #splits: number[] = []
  #last: Bytes32 | undefined
  #size = 0

  add(keyHash: Uint8Array, valueHash: Uint8Array): this {
    return this.addLeaf(toBytes32(keyHash), toBytes32(valueHash))
  }

  /** {@link add} with both hashes as latin1 text. */
  addLeaf(key: Bytes32, valueHash: Bytes32): this {
    const leaf = new LeafNode(key, valueHash)
    if (this.#last !== undefined) {
      if (key <= this.#last) {
        throw ledgerError('ledger.malformed_state_page', {
          problem: 'its entries are not in ascending order'
        })
      }
      const bit = differingBit(this.#last, key)
      this.#close(bit)
      this.#splits.push(bit)
    }
    this.#open.push(leaf)
    this.#last = key
    this.#size += 1
    return this
  }

  finish(): StateTree {
    if (this.#size === 0) return StateTree.empty
    this.#close(ABOVE_ALL_BITS)
    return new StateTree(this.#open[0], this.#size)
  }

  /** Closes every subtree of the right edge that splits below `bit`. */
  #close(bit: number): void {
    while ((this.#splits.at(-1) ?? ABOVE_ALL_BITS) > bit) {
      const split = present(this.#splits.pop(), 'open split')
      const right = present(this.#open.pop(), 'right subtree')
      const left = present(this.#open.pop(), 'left subtree')
      this.#open.push(new InnerNode(split, left, right))
    }
  }
}

/** The tree of entries given in ascending order of key hashes, in linear time. */
export function buildStateTree(
  sortedEntries: Iterable<readonly [keyHash: Uint8Array, valueHash: Uint8Array]>
): StateTree {
  const builder = new StateTreeBuilder()
  for (const [keyHash, valueHash] of sortedEntries) builder.add(keyHash, valueHash)
  return builder.finish()
}
