import { openLevelStore, probeLevelLock } from './level.js'
import type { Store } from './port.js'

/**
 * Makes and opens the store of a data directory. Everything that needs a store of a location takes
 * it from here, so that another driver has one place to come in at.
 */
export interface Stores {
  /** Makes an empty store in a directory that is absent or empty. Throws `ledger.exists`. */
  create(path: string): Promise<Store>
  /** Throws `ledger.not_found`, `ledger.locked`, `ledger.corrupt`, `store.open_failed`. */
  open(path: string): Promise<Store>
  /**
   * Throws `ledger.locked` while another process has the store open. Reads nothing of it, and holds
   * nothing afterwards.
   */
  probe(path: string): Promise<void>
}

/** The LevelDB driver: the only place that constructs it. */
export const levelStores: Stores = {
  create: (path) => openLevelStore({ path, create: true }),
  open: (path) => openLevelStore({ path, create: false }),
  probe: probeLevelLock
}
