import type { StoreKeys } from '../keys.js'
import type { KeyRange, Store } from '../stores/port.js'

/**
 * Removes all derived records and their watermark; the next open makes them again. Without what
 * they have written (`ofRuns`) runs are rebuilt, and shown, from their journals.
 */
export async function removeDerived(
  store: Store,
  keys: StoreKeys,
  { ofRuns }: { readonly ofRuns: boolean } = { ofRuns: false }
): Promise<void> {
  if (store.get(keys.derived) !== undefined) {
    await store.commit([{ puts: [], deletes: [keys.derived] }])
  }
  const more = ofRuns ? keys.writtenByRuns() : []
  await removeRanges(store, [...keys.derivedRanges(), ...more])
}

async function removeRanges(store: Store, ranges: readonly KeyRange[]): Promise<void> {
  const deletes: string[] = []
  for (const range of ranges) {
    for await (const [key] of store.entries(range)) deletes.push(key)
  }
  if (deletes.length > 0) await store.commit([{ puts: [], deletes }])
}
