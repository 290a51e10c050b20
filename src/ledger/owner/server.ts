/**
 * The owner's end of the socket through which other processes reach a ledger that this one holds.
 *
 * Owns the socket file, the connections and their bounds. Does not own the ledger: what a request
 * means, and that its principal is the owner, is the handler's matter.
 *
 * - L11 Only the holder of LevelDB's lock listens. A stale socket is replaced; a live one means
 *   that the lock did not hold, so listening is refused and the caller closes the ledger.
 * - Every connection, request, line and stream is bounded; one over a bound is refused, and the
 *   others go on.
 */
import { chmod, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { type IdentityId, limits, TallyError } from '../../core/index.js'
import { LEDGER_FORMAT_VERSION } from '../location/index.js'
import { type OwnerHandler, ServedConnection } from './connection.js'
import { encodeGreeting } from './protocol.js'
import {
  hasOwner,
  prepareSocketPlace,
  type RuntimeEnvironment,
  socketPlaces,
  systemEnvironment
} from './socket-path.js'

export interface ListenOptions {
  /** `realPath` of the claimed location, whose LevelDB lock the caller holds. */
  readonly realPath: string
  readonly identity: IdentityId
  /** Answers one request: a promise for one result, an async iterable for a stream of events. */
  readonly handle: OwnerHandler
  readonly environment?: RuntimeEnvironment
  /** Clients served at once. */
  readonly connectionsMax?: number
  /** Requests of one client under way at once. */
  readonly requestsMax?: number
  /** Bytes of one request. */
  readonly requestBytesMax?: number
  /** Bytes of one result or event. */
  readonly responseBytesMax?: number
}

export interface OwnerSocket {
  readonly path: string
  /** Ends all connections and removes the socket. */
  close(): Promise<void>
}

/**
 * Listens as the owner of a location.
 * Throws `ledger.locked` when another process answers there, `owner.unsafe_directory`,
 * `owner.path_too_long`.
 */
export async function listenOwner(options: ListenOptions): Promise<OwnerSocket> {
  const { realPath, environment = systemEnvironment() } = options
  if (await hasOwner(realPath, environment)) throw heldElsewhere(realPath)
  const { path } = await prepareSocketPlace(socketPlaces(realPath, environment))
  await rm(path, { force: true })
  const connections = new Set<ServedConnection>()
  const server = createServer((socket) => serve(socket, connections, options))
  try {
    await listen(server, path)
    await chmod(path, 0o600)
  } catch (error) {
    server.close()
    throw new TallyError(
      'ledger.locked',
      { path: realPath, problem: `its owner socket cannot be taken (${String(error)})` },
      { cause: error }
    )
  }
  server.unref()
  return {
    path,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const connection of connections) connection.end()
      })
  }
}

function serve(socket: Socket, connections: Set<ServedConnection>, options: ListenOptions): void {
  const { connectionsMax = limits.OWNER_CONNECTIONS_MAX, realPath, identity } = options
  socket.on('error', () => socket.destroy())
  if (connections.size >= connectionsMax) {
    socket.destroy()
    return
  }
  const connection = new ServedConnection(socket, {
    handle: options.handle,
    requestsMax: options.requestsMax ?? limits.OWNER_REQUESTS_MAX,
    requestBytesMax: options.requestBytesMax ?? limits.OWNER_REQUEST_BYTES_MAX,
    responseBytesMax: options.responseBytesMax ?? limits.OWNER_RESPONSE_BYTES_MAX
  })
  connections.add(connection)
  socket.on('close', () => connections.delete(connection))
  connection.begin(encodeGreeting({ realPath, identity, ledgerVersion: LEDGER_FORMAT_VERSION }))
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

function heldElsewhere(path: string): TallyError {
  const problem = 'another process answers at its owner socket'
  return new TallyError('ledger.locked', { path, problem })
}
