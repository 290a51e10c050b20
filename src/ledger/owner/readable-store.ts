import { constants } from 'node:fs'
import { access, copyFile, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isError, isTallyError, TallyError } from '../../core/index.js'
import { hasOwner, namingHolder } from '../../owner/index.js'
import { inspectLocation, openLocation } from '../location/index.js'
import { levelStores } from '../stores/stores.js'
import { type HeldStore, holdStore } from './held-store.js'

/** A location and its store, to read. */
export type ReadableStore = Omit<HeldStore, 'socket'>

/**
 * Takes hold of a ledger in order to read it. LevelDB writes in its directory when it opens, so on
 * a medium that cannot be written it opens a scratch directory: its tables are links to those of
 * the ledger, and only its log and its manifest are copied, which no history lets grow beyond a few
 * write buffers. What LevelDB merges meanwhile stays in the scratch directory, at most as much as
 * the ledger has; all of it is removed at the end.
 * Throws what `holdStore` throws.
 */
export async function holdForReading(directory: string): Promise<ReadableStore> {
  const found = await inspectLocation(directory)
  if (found === undefined) throw new TallyError('ledger.not_found', { path: directory })
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
      throw await namingHolder(path, new TallyError('ledger.locked', { path, problem }))
    }
    const scratch = await mkdtemp(join(tmpdir(), 'tally-read-'))
    const remove = () => rm(scratch, { recursive: true, force: true })
    try {
      await fillScratch(livePath, scratch)
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
    throw new TallyError('store.open_failed', { path, problem: error.message }, { cause: error })
  }
}

const table = /\.(ldb|sst)$/
const written = /^(CURRENT|MANIFEST-\d+|\d+\.log)$/

async function fillScratch(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (table.test(name)) await symlink(join(from, name), join(to, name))
    else if (written.test(name)) await copyFile(join(from, name), join(to, name))
  }
}

async function canWrite(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false
  )
}
