/** owner: the socket through which other processes reach a ledger that one process holds. */
export { connectOwner, type OwnerClient } from './client.js'
export type { OwnerHandler, OwnerRequest } from './connection.js'
export { createEmptyStore, type HeldStore, holdStore } from './held-store.js'
export type { OwnedLedger, RemoteError } from './protocol.js'
export { type ListenOptions, listenOwner, type OwnerSocket } from './server.js'
export { hasOwner, type RuntimeEnvironment } from './socket-path.js'
