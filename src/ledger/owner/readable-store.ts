import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { isError, isTallyError, ledgerError } from '../../core/index.js'
import { hasOwner, namingHolder } from '../../owner/index.js'
import { inspectLocation, openLocation } from '../location/index.js'
import { levelStores } from '../stores/stores.js'
import { type HeldStore, holdStore } from './held-store.js'

/** A location and its store, to read. */
export type ReadableStore = Omit<HeldStore, 'socket'>

/**
 * Takes hold of a ledger in order to read it. LevelDB writes in its directory when it opens, so on
 * a medium that cannot be written it opens a scratch directory, which is removed at the end.
 * Throws what `holdStore` throws.
 */
export async function holdForReading(directory: string): Promise<ReadableStore> {
  const found = await inspectLocation(directory)
  if (found === undefined) throw ledgerError('ledger.not_found', { path: directory })
  const { realPath, marker } = found
  const isWritable = (await canWrite(realPath)) && (await canWrite(join(realPath, marker.live)))
  return isWritable ? holdStore(directory) : readScratch(directory)
}

async function readScratch(directory: string): Promise<ReadableStore> {
  const location = await openLocation(directory, { readOnly: true })
  const { realPath: path, livePath } = location
  try {
    if (await hasOwner(path)) {
      const problem = 'another process answers at its owner socket'
      throw await namingHolder(path, ledgerError('ledger.locked', { path, problem }))
    }
    const { scratchOf } = await import('../stores/scratch.js')
    const { path: scratch, remove } = await scratchOf(livePath)
    try {
      const store = await levelStores.open(scratch)
      const close = async () => {
        await store.close()
        await remove()
        location.release()
      }
      return { location, store, close }
    } catch (error) {
      await remove()
      throw error
    }
  } catch (error) {
    location.release()
    if (isTallyError(error) || !isError(error)) throw error
    throw ledgerError('store.open_failed', { path, problem: error.message }, { cause: error })
  }
}

async function canWrite(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false
  )
}
