import type { IdentityId } from '../core/index.js'
import { unwrapText, wrapValue } from './envelope.js'
import { StoreKeys } from './keys.js'
import type { Store } from './stores/port.js'

/**
 * Changes stored commit records behind the ledger's back and mends their checksums, as somebody
 * with access to the disk could. For tests and demonstrations of `verify`; returns how many were
 * changed.
 */
export async function alterRecords(
  store: Store,
  identity: IdentityId,
  change: (text: string) => string
): Promise<number> {
  const puts: (readonly [string, Uint8Array])[] = []
  for await (const [key, value] of store.entries(new StoreKeys(identity).allCommits())) {
    const text = unwrapText(key, value)
    const changed = change(text)
    if (changed !== text) puts.push([key, wrapValue(key, changed)])
  }
  await store.commit([{ puts, deletes: [] }])
  return puts.length
}
