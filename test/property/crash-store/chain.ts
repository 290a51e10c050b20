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

/** The items that append one link, conditional on the head. `of` tells chains of a store apart. */
export function appendLink(
  store: Store,
  head: ChainHead,
  of = ''
): { item: StoreItem; next: ChainHead } {
  const text = `${head.hash} ${head.length} ${filler}`
  const next = { length: head.length + 1, hash: sha256Hex(text) }
  const key = linkKey(of, head.length)
  const headKey = `${of}head`
  const puts = [
    [key, wrapValue(key, text)],
    [headKey, wrapValue(headKey, JSON.stringify(next))]
  ] as const
  const condition = { key: headKey, value: store.get(headKey) }
  return { item: { condition, puts, deletes: [] }, next }
}

/** Reads the whole chain; throws `ledger.corrupt`, or an Error for a hole or a wrong link. */
export async function readChain(store: Store, of = ''): Promise<ChainHead> {
  let head = emptyChain
  for await (const [key, value] of store.entries({ gte: `${of}link/`, lt: `${of}link0` })) {
    if (key !== linkKey(of, head.length)) throw new Error(`hole at ${head.length}`)
    const text = unwrapText(key, value)
    if (text !== `${head.hash} ${head.length} ${filler}`) throw new Error(`wrong bytes at ${key}`)
    head = { length: head.length + 1, hash: sha256Hex(text) }
  }
  const stored = store.get(`${of}head`)
  const expected = head.length === 0 ? undefined : JSON.stringify(head)
  const found = stored === undefined ? undefined : unwrapText(`${of}head`, stored)
  if (found !== expected) throw new Error(`the head is ${found}, not ${expected}`)
  return head
}

function linkKey(of: string, number: number): string {
  return `${of}link/${String(number).padStart(8, '0')}`
}
