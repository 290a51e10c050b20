/**
 * testing: what a program that embeds tallystick, or drives it with its own store, tests with.
 * Nothing here depends on a test runner.
 */

export { installTripwire } from '../code/index.js'
export type { PoolMember, Signer } from '../identity/index.js'
export type { KeyRange, Store, StoreItem } from '../ledger/index.js'
export { Chance } from './chance.js'
export type { ChatAnswer, ChatBreak, ChatRefusal, ChatScene } from './chat-scene.js'
export {
  type ChatRequest,
  type ChatServer,
  type ChatServerOptions,
  startChatServer
} from './chat-server.js'
export {
  checkDeterminism,
  type DeterminismCheck,
  type DeterminismOptions
} from './check-determinism.js'
export {
  type AdapterCheck,
  type AdapterDriver,
  type AdapterScene,
  type Anchor,
  type AnchorCheck,
  type AnchorDriver,
  type Anchored,
  adapterChecks,
  adapterConformance,
  adapterScenes,
  agrees,
  agreesAtOnce,
  anchorConformance,
  type BridgeCheck,
  type BridgeHolder,
  type BridgeUnderTest,
  bridgeConformance,
  type ChainTrait,
  type ConformanceCheck,
  type ConformanceOptions,
  conformanceSecrets,
  type Exchanged,
  type ExecutorCheck,
  type ExecutorDriver,
  type ExecutorUnderTest,
  executorChecks,
  executorConformance,
  type HttpBodies,
  httpProtocol,
  type ProviderCheck,
  type ProviderTrouble,
  type ProviderUnderTest,
  providerConformance,
  type ServerProtocol,
  type SignerCheck,
  type SignerDriver,
  type StoreCheck,
  type StoreDriver,
  signerConformance,
  storeConformance,
  type Transport,
  type TransportCheck,
  type TransportDriver,
  transportConformance
} from './conformance/index.js'
export {
  type DetectedBlock,
  detectImpurities,
  detectImpurity,
  type Impurity,
  type ImpurityKind,
  type ImpurityOptions,
  type ImpurityReport,
  type Place
} from './detect/index.js'
export {
  type EvmNode,
  type EvmNodeCall,
  type EvmNodeFault,
  type EvmNodeOptions,
  type EvmToken,
  startEvmNode
} from './evm-node/index.js'
export { FakeBridge, type FakeBridgeOptions } from './fake-bridge.js'
export {
  type FakeBlock,
  FakeChain,
  type FakeChainOptions,
  type FakeEffect,
  type FakeTransaction
} from './fake-chain.js'
export { FakeClock, type FakeClockOptions, type SettleOptions } from './fake-clock.js'
export { type FakeExecutorOptions, fakeExecutor } from './fake-executor.js'
export {
  FakeService,
  type FakeServiceDeed,
  type FakeServiceOptions,
  type FakeServiceTrouble
} from './fake-service.js'
export { FaultyDisk, type FaultyDiskOptions, type WriteFault } from './faulty-store.js'
export {
  type AnyArbitrary,
  type AnySchema,
  type Case,
  type CaseOptions,
  type ChartTarget,
  type CodePlace,
  type Death,
  type DocumentTarget,
  type EffectAnswer,
  type EffectOptionsOfWorld,
  type FunctionTarget,
  type Invariant,
  type MachineBounds,
  type MachineCoverage,
  type MachineOptions,
  type MachineReport,
  type MachineTarget,
  type Manner,
  type Missed,
  type PackageSource,
  type PackageTarget,
  type PeopleOptions,
  type PersonAct,
  type ScriptedEffect,
  type Seen,
  type SeenInTheEnd,
  type Trouble,
  verifyCase,
  verifyMachine
} from './machine/index.js'
export {
  fromLedger,
  openConfig,
  openRecording,
  type RecordedReport,
  RecordedRun
} from './recorded/index.js'
export {
  checkLinearizable,
  type EndedRun,
  type Linearizability,
  type NetworkFault,
  type SeenBySimulation,
  type SeenNode,
  type SimulatedEffect,
  type SimulatedFaults,
  type SimulatedMachine,
  type SimulationOptions,
  type SimulationReport,
  type StateOperation,
  simulate,
  type TimedOperation
} from './simulate/index.js'
