import type { StoreItem } from './port.js'

/**
 * Which items of one commit apply (S3). Conditions are taken in order, and each sees what the
 * applying items before it put and deleted; `read` gives the store as it is before the commit.
 */
export function applicable(
  items: readonly StoreItem[],
  read: (key: string) => Uint8Array | undefined
): readonly boolean[] {
  const last = items.findLastIndex((item) => item.condition !== undefined)
  const pending = new Map<string, Uint8Array | undefined>()
  return items.map((item, index) => {
    const { condition } = item
    if (condition !== undefined) {
      const { key } = condition
      const found = pending.has(key) ? pending.get(key) : read(key)
      if (!sameBytes(found, condition.value)) return false
    }
    if (index < last) {
      for (const [key, value] of item.puts) pending.set(key, value)
      for (const key of item.deletes) pending.set(key, undefined)
    }
    return true
  })
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return Buffer.compare(a, b) === 0
}
