import type { Store } from '../../src/ledger/index.js'
import { storeAround } from '../../src/ledger/stores/store-around.js'

/** The same store, which keeps its content when its ledger closes: the next one opens it again. */
export function lasting(store: Store): Store {
  return storeAround(store, { close: async () => undefined })
}
