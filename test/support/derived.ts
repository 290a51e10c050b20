import { crc32 } from 'node:zlib'
import { unwrapUnchecked, wrapValue } from '../../src/ledger/envelope.js'
import type { Store } from '../../src/ledger/index.js'

const CODED_HEADER_BYTES = 27
const CODE_AT = 11

/** The text of a derived record, whatever its code. */
export function derivedText(key: string, value: Uint8Array | undefined): string {
  return unwrapUnchecked(key, value ?? Buffer.alloc(0)).toString()
}

/**
 * A derived record with another body, as a writer of the disk without the key makes it: the
 * checksum is right, the code is what stood there.
 */
export function withBody(key: string, value: Uint8Array, body: string | Uint8Array): Buffer {
  if (value[0] !== 2) return wrapValue(key, body)
  const changed = Buffer.concat([value.slice(0, CODED_HEADER_BYTES), Buffer.from(body)])
  changed.writeUInt32BE(crc32(changed.subarray(5), crc32(key)), 1)
  return changed
}

/** The same record with a code that is not by the key of its ledger, and the right checksum. */
export function withOtherCode(value: Uint8Array, key: string): Buffer {
  const other = Buffer.from(value)
  other[CODE_AT] = (other[CODE_AT] ?? 0) ^ 1
  other.writeUInt32BE(crc32(other.subarray(5), crc32(key)), 1)
  return other
}

/** Changes the text of a derived record in a store. */
export async function changeDerived(
  store: Store,
  key: string,
  change: (text: string) => string
): Promise<void> {
  const value = store.get(key) ?? Buffer.alloc(0)
  const changed = withBody(key, value, change(derivedText(key, value)))
  await store.commit([{ puts: [[key, changed]], deletes: [] }])
}
