/** intent: who may do what somebody wants done, and doing it as one unit of work. */
export { type Intent, type ParsedIntent, parseIntent } from './intent.js'
export { intentBlocks, isSystemIntent, type SystemIntent, systemIntents } from './names.js'
export type {
  DoneReply,
  ErrorReply,
  IntentReply,
  PermissionReply,
  WaitingReply
} from './reply.js'
