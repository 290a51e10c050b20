import { assert, ledgerError, type TallyError } from '../../core/index.js'
import { StateTreeBuilder } from './builder.js'
import { firstLeaf, isBitSet, type TreeNode } from './node.js'
import type { StateTree } from './tree.js'

/**
 * Pages: the state tree as bytes. A derived record (L1): written behind, and rebuilt from the state
 * entries when it is missing or does not give the storage root of the head.
 *
 * Page p holds the entries whose key hash begins with the 12 bits of p, in ascending order, 64
 * bytes each: `keyHash || valueHash`. An empty page has no bytes; the ledger then keeps no record
 * for it.
 */
export const STATE_PAGE_BITS = 12
export const STATE_PAGE_COUNT = 2 ** STATE_PAGE_BITS

const ENTRY_BYTES = 64

/** The page of a key hash: its first 12 bits. */
export function pageOf(keyHash: Uint8Array): number {
  return ((keyHash[0] ?? 0) << 4) | ((keyHash[1] ?? 0) >> 4)
}

/**
 * Bytes of one page. Finds the page's subtree by its prefix; costs O(log n + entries of the page).
 */
export function encodePage(tree: StateTree, page: number): Uint8Array {
  const leaves: [keyHash: string, valueHash: string][] = []
  const stack: TreeNode[] = []
  const top = subtreeOf(tree.top, page)
  if (top !== undefined) stack.push(top)
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.left === undefined) leaves.push([node.keyHash, node.valueHash])
    else stack.push(node.right, node.left)
  }
  const bytes = Buffer.allocUnsafe(leaves.length * ENTRY_BYTES)
  let offset = 0
  for (const [keyHash, valueHash] of leaves) {
    bytes.write(keyHash, offset, 32, 'latin1')
    bytes.write(valueHash, offset + 32, 32, 'latin1')
    offset += ENTRY_BYTES
  }
  return bytes
}

/**
 * The tree of all its pages, given in ascending order; empty pages may be left out. Linear time.
 * Throws `ledger.malformed_state_page` on anything {@link encodePage} would not have written.
 */
export function decodePages(
  pages: Iterable<readonly [page: number, bytes: Uint8Array]>
): StateTree {
  const builder = new StateTreeBuilder()
  for (const [page, bytes] of pages) addPage(builder, page, bytes)
  return builder.finish()
}

/** Adds the entries of one page to a builder, for pages that arrive one at a time. */
export function addPage(builder: StateTreeBuilder, page: number, bytes: Uint8Array): void {
  if (bytes.length % ENTRY_BYTES !== 0) throw malformed('its length is not a multiple of 64 bytes')
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let offset = 0; offset < buffer.length; offset += ENTRY_BYTES) {
    if ((((buffer[offset] ?? 0) << 4) | ((buffer[offset + 1] ?? 0) >> 4)) !== page) {
      throw malformed(`an entry of page ${page} belongs to another page`)
    }
    builder.addLeaf(
      buffer.toString('latin1', offset, offset + 32),
      buffer.toString('latin1', offset + 32, offset + ENTRY_BYTES)
    )
  }
}

/**
 * Pages that may differ between two trees, ascending. Shared subtrees are skipped, so the cost
 * grows with the changes between the two, not with their size. May name a page that is the same
 * after all.
 */
export function changedPages(before: StateTree, after: StateTree): readonly number[] {
  const pages = new Set<number>()
  collectChanges(before.top, after.top, pages)
  return [...pages].sort((one, other) => one - other)
}

function collectChanges(
  one: TreeNode | undefined,
  other: TreeNode | undefined,
  pages: Set<number>
): void {
  if (one === other) return
  const [upper, lower] = splitBit(one) <= splitBit(other) ? [one, other] : [other, one]
  if (upper === undefined) return
  if (upper.left === undefined || upper.bit >= STATE_PAGE_BITS) {
    pages.add(pageOfNode(upper))
    if (lower !== undefined) pages.add(pageOfNode(lower))
  } else if (lower === undefined) {
    collectChanges(upper.left, undefined, pages)
    collectChanges(upper.right, undefined, pages)
  } else if (lower.left !== undefined && lower.bit === upper.bit) {
    collectChanges(upper.left, lower.left, pages)
    collectChanges(upper.right, lower.right, pages)
  } else {
    // Only `upper` splits here, so one of its children is where `lower` stood or would stand.
    const isRight = isBitSet(firstLeaf(lower).keyHash, upper.bit)
    collectChanges(upper.left, isRight ? undefined : lower, pages)
    collectChanges(upper.right, isRight ? lower : undefined, pages)
  }
}

function splitBit(node: TreeNode | undefined): number {
  if (node === undefined) return Number.POSITIVE_INFINITY
  return node.left === undefined ? 256 : node.bit
}

function pageOfNode(node: TreeNode): number {
  const { keyHash } = firstLeaf(node)
  return (keyHash.charCodeAt(0) << 4) | (keyHash.charCodeAt(1) >> 4)
}

function subtreeOf(top: TreeNode | undefined, page: number): TreeNode | undefined {
  assert(
    Number.isInteger(page) && page >= 0 && page < STATE_PAGE_COUNT,
    'a state page is out of range'
  )
  let node = top
  while (node?.left !== undefined && node.bit < STATE_PAGE_BITS) {
    node = ((page >> (STATE_PAGE_BITS - 1 - node.bit)) & 1) === 1 ? node.right : node.left
  }
  return node !== undefined && pageOfNode(node) === page ? node : undefined
}

function malformed(problem: string): TallyError {
  return ledgerError('ledger.malformed_state_page', { problem })
}
