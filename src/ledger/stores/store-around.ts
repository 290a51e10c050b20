import type { Store } from './port.js'

/** A store that does in a way of its own what `own` has, and the rest as the one behind it. */
export function storeAround(inner: Store, own: Partial<Store>): Store {
  return {
    get: (key) => inner.get(key),
    entries: (range) => inner.entries(range),
    commit: (items) => inner.commit(items),
    compact: () => inner.compact(),
    close: () => inner.close(),
    ...own
  }
}
