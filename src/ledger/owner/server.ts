/**
 * The owner's end of the socket through which other processes reach a ledger that this one holds.
 *
 * Owns the socket file, the connections and their bounds. Does not own the ledger: what a request
 * means, and that its principal is the owner, is the handler's matter.
 *
 * - L11 Only the holder of LevelDB's lock binds it. A stale socket is replaced; a live one means
 *   that the lock did not hold, so binding is refused and the caller closes the ledger.
 * - L13 It is bound as long as the store is open, as a lock, also where nothing is served: then it
 *   greets with that and hangs up.
 * - Every connection, request, line and stream is bounded; one over a bound is refused, and the
 *   others continue.
 */
import { chmod, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { type IdentityId, ledgerError, limits } from '../../core/index.js'
import {
  encodeGreeting,
  encodeRefusal,
  hasOwner,
  type PreparedAddress,
  prepareSocketAddress,
  type RuntimeEnvironment,
  socketAddresses,
  systemEnvironment
} from '../../owner/index.js'
import { LEDGER_FORMAT_VERSION } from '../location/index.js'
import { type OwnerHandler, ServedConnection, type ServedIdentity } from './connection.js'

export interface ServeOptions {
  readonly identity: IdentityId
  /** Answers one request: a promise for one result, an async iterable for a stream of events. */
  readonly handle: OwnerHandler
  /**
   * Who answers a request that names an identity, by id or name, of a location that is opened for
   * many. Absent: only `identity` may be named.
   */
  readonly others?: (named: string) => Promise<ServedIdentity>
  /** Clients served at once. */
  readonly connectionsMax?: number
  /** Requests of one client under way at once. */
  readonly requestsMax?: number
  /** Bytes of one request. */
  readonly requestBytesMax?: number
  /** Bytes of one result or event. */
  readonly responseBytesMax?: number
}

/** A bound owner socket. */
export class OwnerSocket {
  readonly path: string
  /** Places that would have been preferred and are not private, for people. */
  readonly passedOver: readonly string[]
  readonly #realPath: string
  readonly #server: Server
  readonly #connections = new Set<ServedConnection>()
  #options: ServeOptions | undefined

  private constructor({ path, passedOver }: PreparedAddress, realPath: string) {
    this.path = path
    this.passedOver = passedOver
    this.#realPath = realPath
    this.#server = createServer((socket) => this.#accept(socket))
  }

  /**
   * Binds the owner socket of a claimed location, whose LevelDB lock the caller holds, at the
   * address that was prepared for it, or at one that is prepared now.
   * Throws `ledger.locked` when another process answers there, `owner.unsafe_directory`,
   * `owner.path_too_long`.
   */
  static async bind(
    realPath: string,
    environment: RuntimeEnvironment = systemEnvironment(),
    address?: PreparedAddress
  ): Promise<OwnerSocket> {
    if (await hasOwner(realPath, environment)) {
      const problem = 'another process answers at its owner socket'
      throw ledgerError('ledger.locked', { path: realPath, problem })
    }
    const places = socketAddresses(realPath, environment)
    const chosen = address ?? (await prepareSocketAddress(places, environment))
    const { path, directory } = chosen
    const owner = new OwnerSocket(chosen, realPath)
    const server = owner.#server
    try {
      // A pipe ends with its process, and has no file.
      if (directory !== undefined) await rm(path, { force: true })
      await listen(server, path)
      if (directory !== undefined) await chmod(path, 0o600)
    } catch (error) {
      server.close()
      throw ledgerError(
        'ledger.locked',
        { path: realPath, problem: `its owner socket cannot be taken (${String(error)})` },
        { cause: error }
      )
    }
    server.unref()
    return owner
  }

  /** Answers requests from now on. */
  serve(options: ServeOptions): void {
    this.#options = options
  }

  /** Ends all connections and serves nothing from now on; the socket stays bound. */
  pause(): void {
    this.#options = undefined
    for (const connection of this.#connections) connection.end()
  }

  /** Ends all connections and removes the socket. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.pause()
    })
  }

  #accept(socket: Socket): void {
    const options = this.#options
    const realPath = this.#realPath
    socket.on('error', () => socket.destroy())
    if (options === undefined) {
      socket.end(encodeRefusal({ realPath, ledgerVersion: LEDGER_FORMAT_VERSION }))
      return
    }
    const { connectionsMax = limits.OWNER_CONNECTIONS_MAX, identity, handle } = options
    if (this.#connections.size >= connectionsMax) {
      socket.destroy()
      return
    }
    const connection = new ServedConnection(socket, {
      handle,
      handlerOf: (named) => handlerOf(options, named),
      requestsMax: options.requestsMax ?? limits.OWNER_REQUESTS_MAX,
      requestBytesMax: options.requestBytesMax ?? limits.OWNER_REQUEST_BYTES_MAX,
      responseBytesMax: options.responseBytesMax ?? limits.OWNER_RESPONSE_BYTES_MAX
    })
    this.#connections.add(connection)
    socket.on('close', () => this.#connections.delete(connection))
    connection.begin(encodeGreeting({ realPath, identity, ledgerVersion: LEDGER_FORMAT_VERSION }))
  }
}

/** Throws `owner.wrong_ledger` for an identity that is not served here. */
async function handlerOf(options: ServeOptions, named: string): Promise<ServedIdentity> {
  const { identity, handle, others } = options
  if (named === identity) return { handle, release: () => undefined }
  if (others !== undefined) return others(named)
  throw ledgerError('owner.wrong_ledger', { expected: named, actual: identity })
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
