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
export function entriesOf(
  values: StoredValues,
  range: KeyRange
): AsyncGenerator<readonly [key: string, value: Uint8Array]> {
  const { reverse = false, limit = Number.POSITIVE_INFINITY } = range
  const keys = keysIn(values, range)
  if (reverse) keys.reverse()
  // Stored bytes are replaced and never changed, so they may be copied when they are asked for.
  return each(keys.slice(0, limit).map((key) => [key, values.get(key) ?? noBytes] as const))
}

const noBytes = new Uint8Array(0)

async function* each(
  entries: readonly (readonly [key: string, value: Uint8Array])[]
): AsyncGenerator<readonly [key: string, value: Uint8Array]> {
  for (const [key, value] of entries) yield [key, Buffer.from(value)]
}

/** Keys of a range in ascending order. */
function keysIn(values: StoredValues, { gte, lt }: KeyRange): string[] {
  const found: string[] = []
  for (const key of values.keys()) {
    if (compareBytes(key, gte) >= 0 && compareBytes(key, lt) < 0) found.push(key)
  }
  return found.sort(compareBytes)
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
      if (!sameBytes(found, condition.value)) return false
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

// Units of UTF-16 sort as bytes of UTF-8 do, but for surrogates and what stands above them.
const highUnits = /[\ud800-\uffff]/

function compareBytes(a: string, b: string): number {
  if (highUnits.test(a) || highUnits.test(b)) {
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  }
  return a < b ? -1 : a > b ? 1 : 0
}

function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return Buffer.compare(one, other) === 0
}
