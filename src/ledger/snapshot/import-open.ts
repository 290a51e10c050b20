import { ledgerError } from '../../core/index.js'
import { inspectLocation } from '../location/index.js'
import type { HeldStore } from '../owner/held-store.js'
import type { Restoring } from '../restoring.js'
import { type ImportOptions, importOf, type LocationImport, replaceHeld } from './importing.js'
import { SnapshotReader } from './read.js'

/** A ledger that this process has open. */
export type OpenLedger = Pick<HeldStore, 'location' | 'store'> & {
  readonly restoring: Pick<Restoring, 'begin' | 'end'>
}

/**
 * What `importIntoOpen` does once it is loaded.
 *
 * - L9 It is built and verified beside the ledger, which continues. Only then it is in mode
 *   `restoring`, in which nothing is committed: it is compared with what was built, and the marker
 *   changes. Whatever fails or dies before leaves what was there.
 * - K10 Once the marker has changed the ledger takes nothing more; the next opening of the location
 *   reads the imported one.
 */
export async function importBeside(
  open: OpenLedger,
  options: ImportOptions & { readonly isCalledOff: () => boolean }
): Promise<LocationImport> {
  const { file, notes = [], onProgress, isCalledOff } = options
  const { location, restoring } = open
  const snapshot = await SnapshotReader.open(file)
  const before = location.marker.live
  let isHeld = false
  const goOn = () => {
    if (isCalledOff()) throw ledgerError('ledger.closed', {})
  }
  const decides = async () => {
    goOn()
    await restoring.begin()
    isHeld = true
  }
  try {
    const done = await replaceHeld(open, { snapshot, notes, onProgress, goOn, decides })
    restoring.end(done.live === before ? 'unchanged' : 'replaced')
    return importOf(snapshot, done)
  } catch (error) {
    if (isHeld) restoring.end((await isLive(location.realPath, before)) ? 'unchanged' : 'replaced')
    throw error
  } finally {
    snapshot.close()
  }
}

/**
 * Whether the marker on disk still names this directory: only then may anything more be
 * acknowledged.
 */
async function isLive(realPath: string, name: string): Promise<boolean> {
  const found = await inspectLocation(realPath).catch(() => undefined)
  return found?.marker.live === name
}
