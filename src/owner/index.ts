/**
 * owner: how other processes reach the one that holds a ledger: the protocol of its socket (L11),
 * the places where it listens, and the client. Knows no store, so that a process that only asks
 * loads none.
 */
export { connectOwner, type OwnerClient } from './client.js'
export { namingHolder, OWNER_FILE, OWNER_FILE_FORMAT } from './holder.js'
export { LineReader } from './line-reader.js'
export {
  type ClientMessage,
  encodeGreeting,
  encodeMessage,
  encodeMessageInTurns,
  encodeRefusal,
  malformed,
  type OwnedLedger,
  type OwnerMessage,
  parseClientMessage,
  parseClientMessageInTurns,
  type RemoteError
} from './protocol.js'
export { toRemote } from './remote-error.js'
export {
  hasOwner,
  type PreparedAddress,
  prepareSocketAddress,
  processCommand,
  type RuntimeEnvironment,
  runtimeDirectoryProblems,
  socketAddresses,
  systemEnvironment
} from './socket-path.js'
