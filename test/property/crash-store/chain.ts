import { sha256Hex } from '../../../src/core/index.js'
import { unwrapText, wrapValue } from '../../../src/ledger/envelope.js'
import type { Store, StoreItem } from '../../../src/ledger/stores/port.js'

/** A hash chain of numbered links with a head, as small as a chain on disk can be. */
export interface ChainHead {
  readonly length: number
  readonly hash: string
}

export const emptyChain: ChainHead = { length: 0, hash: 'none' }

const filler = 'x'.repeat(700)

/** The items that append one link, conditional on the head. */
export function appendLink(store: Store, head: ChainHead): { item: StoreItem; next: ChainHead } {
  const text = `${head.hash} ${head.length} ${filler}`
  const next = { length: head.length + 1, hash: sha256Hex(text) }
  const key = linkKey(head.length)
  const puts = [
    [key, wrapValue(key, text)],
    ['head', wrapValue('head', JSON.stringify(next))]
  ] as const
  return { item: { condition: { key: 'head', value: store.get('head') }, puts, deletes: [] }, next }
}

/** Reads the whole chain; throws `ledger.corrupt`, or an Error for a hole or a wrong link. */
export async function readChain(store: Store): Promise<ChainHead> {
  let head = emptyChain
  for await (const [key, value] of store.entries({ gte: 'link/', lt: 'link0' })) {
    if (key !== linkKey(head.length)) throw new Error(`hole at ${head.length}`)
    const text = unwrapText(key, value)
    if (text !== `${head.hash} ${head.length} ${filler}`) throw new Error(`wrong bytes at ${key}`)
    head = { length: head.length + 1, hash: sha256Hex(text) }
  }
  const stored = store.get('head')
  const expected = head.length === 0 ? undefined : JSON.stringify(head)
  const found = stored === undefined ? undefined : unwrapText('head', stored)
  if (found !== expected) throw new Error(`the head is ${found}, not ${expected}`)
  return head
}

function linkKey(number: number): string {
  return `link/${String(number).padStart(8, '0')}`
}
