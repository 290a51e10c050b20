/** agent: flow documents, the agents they bind, and the turns that agents do. */
export type {
  AdapterSettings,
  AgentAdapter,
  AgentSession,
  ExpectedOutput,
  SessionOptions,
  ToolCall,
  ToolDefinition,
  TurnBody,
  TurnDelta,
  TurnEffectRequest,
  TurnError,
  TurnMessage,
  TurnMode,
  TurnOptions,
  TurnRequest,
  TurnResult,
  TurnUsage
} from './adapters/adapter.js'
export { TURN_EFFECT } from './adapters/adapter.js'
export { type AdapterFactory, AdapterRegistry } from './adapters/adapter-registry.js'
export {
  type AgentDelta,
  AgentTurns,
  type AgentTurnsOptions,
  type SealedTurn
} from './adapters/agent-turns.js'
export { type AiSdkAdapterOptions, type AiSdkModel, aiSdkAdapter } from './adapters/ai-sdk.js'
export { type BuiltInAdapterOptions, builtInAdapters } from './adapters/built-in.js'
export { type ChatAdapterOptions, deepSeekAdapter } from './adapters/deepseek.js'
export {
  type FakeAdapterOptions,
  type FakeScript,
  type FakeTurn,
  fakeAdapter,
  fakeAnswers
} from './adapters/fake.js'
export { type PiMonoAdapterOptions, piMonoAdapter } from './adapters/pi-mono.js'
export type { KeepSecret, ResponseSecrets, SecretPath } from './adapters/withhold.js'
export type { TurnFailureReason } from './transports/failures.js'
export type { PiCommand } from './transports/pi-process.js'
