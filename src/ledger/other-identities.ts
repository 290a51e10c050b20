import type { StoreKeys } from './keys.js'
import { PutBatch } from './put-batch.js'
import type { KeyRange, Store } from './stores/port.js'

/** Copies what a store holds of all identities but one, byte for byte: nothing of it is checked. */
export async function copyOthers(store: Store, target: Store, keys: StoreKeys): Promise<void> {
  const own = keys.all()
  const ranges: readonly KeyRange[] = [
    { gte: '', lt: own.gte },
    { gte: own.lt, lt: '\u{10ffff}' }
  ]
  const batch = new PutBatch(target)
  for (const range of ranges) {
    for await (const [key, value] of store.entries(range)) await batch.put(key, value)
  }
  await batch.flush()
}
