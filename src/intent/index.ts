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
export { answerCalls, type PackageCaller, type ScopedApi } from './scoped-api/answer-calls.js'
export type {
  EffectCaller,
  EffectCapability,
  HostCapability,
  HostState,
  StatefulCapability,
  StatefulHost
} from './scoped-api/host-capability.js'
export type { NetworkOptions } from './scoped-api/network/network.js'
export type { NetworkPolicy, SecretGrant } from './scoped-api/network/policy.js'
export { type ResolveSecret, secretsOf } from './scoped-api/network/secrets.js'
export { createScopedApi } from './scoped-api/scoped-api.js'
