/** The suites that drivers of the ports pass. */
export {
  type AdapterCheck,
  type AdapterDriver,
  type AdapterScene,
  adapterChecks,
  adapterConformance,
  adapterScenes,
  conformanceSecrets
} from './adapter.js'
export {
  type Anchor,
  type AnchorCheck,
  type AnchorDriver,
  type Anchored,
  anchorConformance
} from './anchor.js'
export {
  type BridgeCheck,
  type BridgeHolder,
  type BridgeUnderTest,
  bridgeConformance
} from './bridge.js'
export type { ConformanceCheck, ConformanceOptions } from './check.js'
export { executorChecks, executorConformance } from './executor.js'
export type {
  ChainTrait,
  ExecutorCheck,
  ExecutorDriver,
  ExecutorUnderTest
} from './executor-driver.js'
export { type HttpBodies, httpProtocol } from './http-protocol.js'
export {
  type ProviderCheck,
  type ProviderTrouble,
  type ProviderUnderTest,
  providerConformance
} from './provider.js'
export { type SignerCheck, type SignerDriver, signerConformance } from './signer.js'
export { agrees, agreesAtOnce, type StoreCheck, storeConformance } from './store.js'
export type { StoreDriver } from './store-driver.js'
export {
  type Exchanged,
  type Transport,
  type TransportCheck,
  type TransportDriver,
  transportConformance
} from './transport.js'
export type { ServerProtocol } from './transport-server.js'
