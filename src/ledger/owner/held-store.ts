import { type IdentityId, isTallyError, TallyError } from '../../core/index.js'
import { initLocation, type Location, openLocation } from '../location/index.js'
import { openLevelStore } from '../stores/level.js'
import type { Store } from '../stores/port.js'
import { hasOwner, type RuntimeEnvironment } from './socket-path.js'

/** A location and its store, both held by this process; `listenOwner` comes next (L4). */
export interface HeldStore {
  readonly location: Location
  readonly store: Store
  /** Closes the store, then lets go of the location. Close the owner socket before. */
  close(): Promise<void>
}

/**
 * Takes hold of an existing ledger in the order of L4: the claim of its real path, a look for a
 * living owner, LevelDB's lock. The look comes first because a refused open of LevelDB by another
 * thread of the owner's process would give up the owner's lock.
 * With `create`, a ledger is made where there is none.
 * Throws what `openLocation`, `initLocation` and `openLevelStore` throw.
 */
export async function holdStore(
  directory: string,
  options: {
    readonly create?: { readonly identities: readonly IdentityId[] }
    readonly environment?: RuntimeEnvironment
  } = {}
): Promise<HeldStore> {
  const location = await locate(directory, options.create?.identities)
  try {
    if (await hasOwner(location.realPath, options.environment)) {
      const problem = 'another process answers at its owner socket'
      throw new TallyError('ledger.locked', { path: location.realPath, problem })
    }
    const store = await openLevelStore({ path: location.livePath, create: false })
    return {
      location,
      store,
      close: async () => {
        await store.close()
        location.release()
      }
    }
  } catch (error) {
    location.release()
    throw error
  }
}

async function locate(
  directory: string,
  identities: readonly IdentityId[] | undefined
): Promise<Location> {
  if (identities === undefined) return openLocation(directory)
  try {
    return await openLocation(directory)
  } catch (error) {
    if (!isTallyError(error, 'ledger.not_found')) throw error
    return initLocation(directory, { identities, build: createEmptyStore })
  }
}

/** Makes an empty LevelDB store: the `build` of `initLocation`. */
export async function createEmptyStore(path: string): Promise<undefined> {
  const store = await openLevelStore({ path, create: true })
  await store.close()
}
