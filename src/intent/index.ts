/** intent: chooses and authorises what carries out an intent, and does it as one unit of work. */

export { kernelResolution } from './conversation/kernel-patterns.js'
export { knownActions } from './conversation/known-actions.js'
export type { Resolution } from './conversation/resolution.js'
export { RESOLVE_BLOCK, resolveBlock, resolverProvider } from './conversation/resolve-block.js'
export type { IntentResolver, KnownAction, ResolveQuestion } from './conversation/resolver.js'
export { parseGraph, parsingGraph } from './graph/parse.js'
export { type Intent, type ParsedIntent, parseIntent } from './intent.js'
export { KERNEL_HASH, KERNEL_ID, KERNEL_VERSION } from './kernel-version.js'
export { intentMachine } from './machine.js'
export { intentBlocks, isSystemIntent, type SystemIntent, systemIntents } from './names.js'
export {
  codeHashIn,
  INSTALLED_PREFIX,
  installedKey,
  memoryPackageStore,
  PackageCache,
  type RefusedPackage
} from './package-cache.js'
export { createIntentPipeline, type IntentPipelineOptions } from './pipeline.js'
export { graphDocument } from './planner/graph-document.js'
export type { IntentPlan, PlannedIntent, PlannedStep } from './planner/plan.js'
export { planIntent } from './planner/planner.js'
export type {
  DoneReply,
  ErrorReply,
  IntentReply,
  PermissionReply,
  WaitingReply
} from './reply.js'
export { doneReply } from './reply.js'
export {
  type IntentDefinition,
  intentRoot,
  intentSchemaName,
  isIntentDefinition
} from './root.js'
export { answerCalls, type PackageCaller, type ScopedApi } from './scoped-api/answer-calls.js'
export type {
  EffectCaller,
  EffectCapability,
  HostCapability,
  HostState,
  StatefulCapability,
  StatefulHost
} from './scoped-api/host-capability.js'
export {
  type AllowedAddresses,
  allowedAddresses,
  hostOf
} from './scoped-api/network/allowed-addresses.js'
export { guardedFetch, serverNotAllowed } from './scoped-api/network/guarded-fetch.js'
export type { NetworkOptions } from './scoped-api/network/network.js'
export { mayAsk, type NetworkPolicy, type SecretGrant } from './scoped-api/network/policy.js'
export { type ResolveSecret, secretsOf } from './scoped-api/network/secrets.js'
export { createScopedApi } from './scoped-api/scoped-api.js'

export type { StageEvent, StageListener } from './stages.js'
export {
  IDENTITY_NAMES_PREFIX,
  type IdentityAbout,
  identityAsked,
  identityCalled,
  identityNamed,
  isIdentityName,
  madeIdentityKey,
  namedIdentity
} from './system/identities.js'
export { keyRotation } from './system/keys.js'
export { PUBLISHED_PREFIX } from './system/published.js'
export { REPLACED_KEYS_PREFIX, replacedKey } from './system/revoked.js'
export { SCHEDULES_PREFIX } from './system/schedules.js'
export type { Versions } from './system/system-work.js'
export { programVersions, sameVersions, VERSIONS_KEY, versionsIn } from './system/versions.js'
export { type UsedCode, usedBlock, usedPackage } from './used-code.js'
