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
export type { SessionNote, SessionNotes } from './adapters/session-notes.js'
export type { KeepSecret, ResponseSecrets, SecretPath } from './adapters/withhold.js'
export { type AssetFiles, memoryFiles } from './assets/files.js'
export type { AgentAsset, AssetError, PromptAssetManifest, PromptText } from './assets/manifest.js'
export { readPromptAssets } from './assets/read-assets.js'
export type { DocumentBounds } from './binding/bounds.js'
export { type BindingReport, bindingReport, type SettingReport } from './binding/report.js'
export { anyFlowHost } from './compile/any-host.js'
export { type CompiledFlow, compileFlow, compilingFlow } from './compile/compile-flow.js'
export type { FlowHost } from './compile/flow-host.js'
export type { FlowFinding, FlowFindingCode } from './flow/finding.js'
export { isFlowDocument } from './flow/parse.js'
export { PROMPT_ASSETS_DIRECTORY, readFlow, withPromptAssets } from './flow/read-flow.js'
export { type FlowDocument, flowJsonSchema } from './flow/schema.js'
export { type AgentHost, AgentParts } from './host.js'
export { type AgentResolverOptions, agentResolver } from './intent/agent-resolver.js'
export {
  connectMcpServer,
  type McpCapabilities,
  type McpServerOptions
} from './mcp/connect.js'
export type { McpHost } from './mcp/host.js'
export type { McpProgram, McpServerPlace } from './mcp/place.js'
export { type McpService, serveMcpOverHttp, serveMcpOverStdio } from './mcp/serve.js'
export type { McpTool } from './mcp/tool.js'
export {
  defineFlowKind,
  type FlowKind,
  type FlowKindDefinition,
  type FlowKindInput,
  type FlowKindOutput
} from './position/blocks.js'
export type { TurnFailureReason } from './transports/failures.js'
export type { PiCommand } from './transports/pi-process.js'
export type { TurnNode } from './turn/agent.js'
export { type AgentTool, type BoundTool, defineTool } from './turn/tool.js'
export { TURN_BLOCK } from './turn/turn-block.js'
