/**
 * capability: packages written by strangers: what they declare, who may use what, who answers an
 * intent, and the sandbox they run in. Nothing here touches a ledger: state comes in through small
 * ports, effects go out as data.
 */
export {
  capabilitySet,
  immediateCapabilities,
  readOnlyCapabilities
} from './manifest/capabilities.js'
export {
  type CapabilityEntry,
  declaredCapabilities,
  type Manifest,
  type OfferEntry,
  type ParsedManifest,
  parseManifest,
  type Refusal,
  type RefusalCode,
  readingManifest,
  type Score
} from './manifest/manifest.js'
export { type LoadedPackage, packDirectory } from './packages/directory.js'
export {
  type CapabilityPackage,
  codeHashOf,
  encodePackage,
  makePackage,
  openingPackage,
  openPackage,
  parsePackage,
  withInterfaceOf
} from './packages/package.js'
export { directoryPackageStore, type PackageStore } from './packages/store.js'
export {
  type Authorship,
  type GrantedCode,
  grant,
  isGranted,
  missing,
  type PermissionChange,
  prefer,
  preferred,
  readOnlyOf,
  revoke,
  setApprover
} from './permissions/grants.js'
export {
  APPROVERS_PREFIX,
  approverKey,
  GRANTS_PREFIX,
  grantKey,
  grantsOf,
  PACKAGE_STORAGE_PREFIX,
  PREFERENCES_PREFIX,
  PRINCIPAL_GRANTS_PREFIX,
  packageStoragePrefix,
  preferenceKey,
  principalGrantIn,
  principalGrantsOf,
  storageKey
} from './permissions/keys.js'
export {
  isOwner,
  isSamePrincipal,
  mayAdminister,
  type Principal,
  principalIn
} from './permissions/principal.js'
export {
  AGENT_ADAPTERS,
  AGENT_TOOL_EFFECTS,
  AGENT_TURN_BLOCK,
  grantToPrincipal,
  LEDGER_READ,
  type PrincipalCode,
  type PrincipalGrantOutcome,
  principalLacks,
  revokeFromPrincipal
} from './permissions/principal-grants.js'
export { type StatePort, type StateReader, stateOf } from './permissions/state.js'
export { compareRationals, type Rational, rationalOf, scoreOf } from './routing/rational.js'
export {
  type CapabilityProvider,
  type CapabilityRegistry,
  createRegistry,
  type RoutedPackage
} from './routing/registry.js'
export { canonicalActions, type Route, type RouteQuery, route } from './routing/route.js'
export {
  ABI_VERSION,
  ABI_VERSIONS,
  type AbiVersion,
  ENGINE_WASM_SHA256,
  sandboxProfile
} from './sandbox/abi.js'
export type {
  DeniedCalls,
  SandboxCall,
  SandboxFacts,
  SandboxFailure,
  SandboxFailureCode,
  SandboxOutcome,
  SealedAnswer
} from './sandbox/outcome.js'
export type { SandboxLimits } from './sandbox/protocol.js'
export {
  createSandbox,
  type Sandbox,
  type SandboxRequest
} from './sandbox/sandbox.js'
export type { ReadState } from './sandbox/worker.js'
