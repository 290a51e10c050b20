import { type IdentityId, isTallyError, ledgerError, type TallyError } from '../../core/index.js'
import {
  hasOwner,
  namingHolder,
  type PreparedAddress,
  prepareSocketAddress,
  processCommand,
  type RuntimeEnvironment,
  socketAddresses,
  systemEnvironment
} from '../../owner/index.js'
import { initLocation, type Location, openLocation } from '../location/index.js'
import type { Store } from '../stores/port.js'
import { levelStores, type Stores } from '../stores/stores.js'
import { FencedStore } from './fenced-store.js'
import { withOpeningMark } from './opening-mark.js'
import { OwnerFile } from './owner-file.js'
import { OwnerSocket } from './server.js'

/** A location and its store, both held by this process. */
export interface HeldStore {
  readonly location: Location
  /** Writes only while no other process has opened the location (L13). */
  readonly store: Store
  /** Bound, as a lock; it serves from {@link OwnerSocket.serve} on. */
  readonly socket: OwnerSocket
  /** Closes the store, then the socket, and lets go of the location. */
  close(): Promise<void>
}

export interface HoldOptions {
  readonly create?: { readonly identities: readonly IdentityId[] }
  readonly environment?: RuntimeEnvironment
  readonly stores?: Stores
}

/**
 * Takes hold of an existing ledger in the order of L4: the claim of its real path, then under an
 * opening mark a look for a living owner, the owner file, the lock and the bytes of the store,
 * the owner socket. The look comes before LevelDB because a refused open by another thread of the
 * owner's process would give up the owner's lock; the owner file comes before the bytes are read,
 * so that an earlier writer acknowledges nothing that is not read here (L13).
 * With `create`, a ledger is made where there is none.
 * Throws what `openLocation`, `initLocation` and opening a store throw, and
 * `owner.unsafe_directory`, `owner.path_too_long`.
 */
export async function holdStore(directory: string, options: HoldOptions = {}): Promise<HeldStore> {
  const { environment = systemEnvironment(), stores = levelStores } = options
  const location = await locate(directory, options.create?.identities, stores)
  try {
    return await withOpeningMark(location.realPath, () => hold(location, { environment, stores }))
  } catch (error) {
    location.release()
    throw await namingHolder(location.realPath, error)
  }
}

async function hold(
  location: Location,
  { environment, stores }: Required<Pick<HoldOptions, 'environment' | 'stores'>>
): Promise<HeldStore> {
  const { realPath } = location
  if (await hasOwner(realPath, environment)) {
    throw locked(realPath, 'another process answers at its owner socket')
  }
  const address = await prepareSocketAddress(socketAddresses(realPath, environment), environment)
  await stores.probe(location.livePath)
  const owner = await OwnerFile.take(realPath, {
    socket: address.path,
    command: processCommand()
  })
  try {
    return await held(location, { stores, owner, environment, address })
  } catch (error) {
    await owner.release()
    throw error
  }
}

async function held(
  location: Location,
  taken: {
    readonly stores: Stores
    readonly owner: OwnerFile
    readonly environment: RuntimeEnvironment
    readonly address: PreparedAddress
  }
): Promise<HeldStore> {
  const { stores, owner, environment, address } = taken
  const { realPath } = location
  const store = await stores.open(location.livePath)
  try {
    refuseOthers(realPath, owner)
    const socket = await OwnerSocket.bind(realPath, environment, address)
    return {
      location,
      store: new FencedStore(store, owner),
      socket,
      close: async () => {
        try {
          await store.close()
        } finally {
          await owner.release()
          await socket.close()
          location.release()
        }
      }
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Of two that open at once each has replaced the owner file; only the last one may continue. */
function refuseOthers(realPath: string, owner: OwnerFile): void {
  try {
    owner.check()
  } catch (error) {
    if (!isTallyError(error, 'ledger.fenced')) throw error
    throw locked(realPath, 'another process opens it')
  }
}

function locked(path: string, problem: string): TallyError {
  return ledgerError('ledger.locked', { path, problem })
}

async function locate(
  directory: string,
  identities: readonly IdentityId[] | undefined,
  stores: Stores
): Promise<Location> {
  if (identities === undefined) return openLocation(directory, { stores })
  try {
    return await openLocation(directory, { stores })
  } catch (error) {
    if (!isTallyError(error, 'ledger.not_found')) throw error
    const build = async (path: string) => {
      await (await stores.create(path)).close()
      return undefined
    }
    return initLocation(directory, { identities, stores, build })
  }
}
