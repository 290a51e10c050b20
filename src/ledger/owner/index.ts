/** owner: what holds a ledger for one process, and answers others at its socket. */
export type { OwnerHandler, OwnerRequest } from './connection.js'
export { type HeldStore, type HoldOptions, holdStore } from './held-store.js'
export { holdForReading, type ReadableStore } from './readable-store.js'
export { OwnerSocket, type ServeOptions } from './server.js'
