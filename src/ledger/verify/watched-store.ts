import type { IdentityId } from '../../core/index.js'
import { StoreKeys } from '../keys.js'
import type { Store } from '../stores/port.js'
import { storeAround } from '../stores/store-around.js'

/** A store that says of each commit record that it was read. */
export function watchedStore(store: Store, identity: IdentityId, onRecord: () => void): Store {
  return storeAround(store, {
    entries: (range) => {
      const isOfCommits = range.gte.startsWith(`${identity}/commit/`)
      return isOfCommits ? told(store.entries(range), onRecord) : store.entries(range)
    }
  })
}

async function* told(
  entries: ReturnType<Store['entries']>,
  onRecord: () => void
): ReturnType<Store['entries']> {
  for await (const entry of entries) {
    onRecord()
    yield entry
  }
}

/**
 * How many commit records there are, by the number of the last; whether it is right is not read.
 */
export async function storedCommits(store: Store, identity: IdentityId): Promise<number> {
  const keys = new StoreKeys(identity)
  const range = { ...keys.allCommits(), reverse: true, limit: 1 }
  for await (const [key] of store.entries(range)) return keys.commitSeq(key) + 1
  return 0
}
