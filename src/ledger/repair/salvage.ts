import { isTallyError, ledgerError, type TallyError } from '../../core/index.js'
import { repairLevelDirectory } from '../stores/level.js'
import { isUnreadable } from '../stores/level-errors.js'
import type { Store } from '../stores/port.js'
import { scratchOf } from '../stores/scratch.js'
import { storeAround } from '../stores/store-around.js'
import { levelStores, type Stores } from '../stores/stores.js'

const everything = { gte: '', lt: '\u{10ffff}' }

/**
 * Opens databases that are damaged themselves, where no record of them can be read any more: files
 * are missing, cut or empty. What is opened then is a scratch directory with what LevelDB's
 * own repair still finds; the damaged files stay as they are. Some records may be missing in it,
 * and older ones be there in place of newer ones, so its chain is to be verified before any of it
 * is kept.
 */
export class SalvagingStores implements Stores {
  /** Why a database could not be read, once one was opened that way. */
  damage: TallyError | undefined

  create(path: string): Promise<Store> {
    return levelStores.create(path)
  }

  async open(path: string): Promise<Store> {
    try {
      return await openWhole(path)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      this.damage = error
    }
    const { path: scratch, remove } = await scratchOf(path)
    try {
      await repairLevelDirectory(scratch)
      const store = await levelStores.open(scratch)
      return storeAround(store, { close: () => store.close().finally(remove) })
    } catch (error) {
      await remove()
      if (isTallyError(error)) throw error
      const problem = 'nothing of its database can be read any more'
      throw ledgerError('ledger.not_recoverable', { problem }, { cause: error })
    }
  }

  async probe(path: string): Promise<void> {
    try {
      await levelStores.probe(path)
    } catch (error) {
      // The owner file and the owner socket keep others from it.
      if (!isUnreadable(error)) throw error
    }
  }
}

/** Opens a database once every entry of it can be read. */
async function openWhole(path: string): Promise<Store> {
  const store = await levelStores.open(path)
  try {
    for await (const _ of store.entries(everything));
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}
