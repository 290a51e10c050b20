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
