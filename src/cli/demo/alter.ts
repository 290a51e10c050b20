import { crc32, type IdentityId } from '../../core/index.js'
import type { Store } from '../../ledger/index.js'

/** Version byte and checksum before the body of a stored value (docs/spec/store.md). */
const HEADER_BYTES = 5

/**
 * Changes stored commit records behind the ledger's back and mends their checksums, as a program
 * with access to the disk could: written from the specification of the store alone. For the
 * demonstration of `verify` and for tests; returns how many were changed.
 */
export async function alterRecords(
  store: Store,
  identity: IdentityId,
  change: (text: string) => string
): Promise<number> {
  const puts: (readonly [string, Uint8Array])[] = []
  const range = { gte: `${identity}/commit/`, lt: `${identity}/commit0` }
  for await (const [key, value] of store.entries(range)) {
    const text = Buffer.from(value.subarray(HEADER_BYTES)).toString()
    const changed = change(text)
    if (changed !== text) puts.push([key, stored(key, changed)])
  }
  await store.commit([{ puts, deletes: [] }])
  return puts.length
}

function stored(key: string, text: string): Uint8Array {
  const value = Buffer.concat([Buffer.of(1, 0, 0, 0, 0), Buffer.from(text)])
  value.writeUInt32BE(crc32(value.subarray(HEADER_BYTES), crc32(key)), 1)
  return value
}
