/** owner: the socket through which other processes reach a ledger that one process holds. */
export { connectOwner, type OwnerClient } from './client.js'
export type { OwnerHandler, OwnerRequest } from './connection.js'
export { type HeldStore, holdStore } from './held-store.js'
export type { OwnedLedger, RemoteError } from './protocol.js'
export { holdForReading, type ReadableStore } from './readable-store.js'
export { toRemote } from './remote-error.js'
export { OwnerSocket, type ServeOptions } from './server.js'
export { hasOwner, type RuntimeEnvironment, runtimeDirectoryProblems } from './socket-path.js'
