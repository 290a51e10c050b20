import type { KeyRange, StoreItem } from '../ledger/index.js'

/**
 * The plain map behind a simulated store. Written apart from the drivers' own parts, so that a
 * mistake there does not hide itself here.
 */
export type StoredValues = Map<string, Uint8Array>

/** Keys in ascending order of their UTF-8 bytes. */
export function sortedKeys(values: StoredValues): string[] {
  return [...values.keys()].sort(compareBytes)
}

/** The entries of a range as they are now, with bytes that are the caller's own. */
export async function* entriesOf(
  keys: readonly string[],
  values: StoredValues,
  { reverse = false, limit = Number.POSITIVE_INFINITY }: KeyRange
): AsyncGenerator<readonly [key: string, value: Uint8Array]> {
  let left = limit
  for (const key of reverse ? keys.toReversed() : keys) {
    const value = values.get(key)
    if (left <= 0) return
    if (value === undefined) continue
    left -= 1
    yield [key, Buffer.from(value)]
  }
}

/** Keys of a range in ascending order. */
export function keysIn(values: StoredValues, { gte, lt }: KeyRange): string[] {
  return sortedKeys(values).filter(
    (key) => compareBytes(key, gte) >= 0 && compareBytes(key, lt) < 0
  )
}

/** The changes of the items whose condition holds, and which those are (S3). */
export function decide(
  values: StoredValues,
  items: readonly StoreItem[]
): { readonly applies: boolean[]; readonly changes: Change[] } {
  const changes: Change[] = []
  const applies = items.map(({ condition, puts, deletes }) => {
    if (condition !== undefined) {
      const change = changes.findLast(([key]) => key === condition.key)
      const found = change === undefined ? values.get(condition.key) : change[1]
      if (hex(found) !== hex(condition.value)) return false
    }
    for (const [key, value] of puts) changes.push([key, Buffer.from(value)])
    for (const key of deletes) changes.push([key, undefined])
    return true
  })
  return { applies, changes }
}

/** A key with its new value; undefined deletes it. */
export type Change = [key: string, value: Uint8Array | undefined]

export function applyChanges(values: StoredValues, changes: readonly Change[]): void {
  for (const [key, value] of changes) {
    if (value === undefined) values.delete(key)
    else values.set(key, value)
  }
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function hex(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString('hex')
}
