/** console: the local console's server, which shows one ledger to its owner's browser. */

export { type MethodKind, methodKind } from './methods.js'
export { type PageFile, type PageFiles, pageDirectory, readPageFiles } from './page-files.js'
export type { CallReply, ErrorReply, SessionReply, SessionRequest } from './protocol.js'
export { type ConsoleOptions, ConsoleServer } from './server.js'
