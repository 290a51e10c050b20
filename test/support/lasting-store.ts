import type { Store } from '../../src/ledger/index.js'

/** The same store, which keeps its content when its ledger closes: the next one opens it again. */
export function lasting(store: Store): Store {
  return {
    get: (key) => store.get(key),
    entries: (range) => store.entries(range),
    commit: (items) => store.commit(items),
    compact: () => store.compact(),
    close: async () => undefined
  }
}
