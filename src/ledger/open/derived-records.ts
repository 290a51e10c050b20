import type { StoreKeys } from '../keys.js'
import type { KeyRange, Store } from '../stores/port.js'

/** Removes all derived records and their watermark; the next open makes them again. */
export async function removeDerived(store: Store, keys: StoreKeys): Promise<void> {
  if (store.get(keys.derived) !== undefined) {
    await store.commit([{ puts: [], deletes: [keys.derived] }])
  }
  await removeRanges(store, keys.derivedRanges())
}

async function removeRanges(store: Store, ranges: readonly KeyRange[]): Promise<void> {
  const deletes: string[] = []
  for (const range of ranges) {
    for await (const [key] of store.entries(range)) deletes.push(key)
  }
  if (deletes.length > 0) await store.commit([{ puts: [], deletes }])
}
