/** runtime: a ledger, what may run on it, and the runs of this process, wired together. */

export type { InspectedLedger, InspectionOptions } from './audit/inspecting.js'
export type { RecheckOptions, TransactionCheck } from './audit/reconfirm.js'
export type { RunReadiness } from './audit/upgrade-check.js'
export type { VerifyOptions } from './audit/verifying.js'
export { defineConfig, type TallyConfig } from './code/config.js'
export { Compilations } from './code/prepared-documents.js'
export type { Registrations } from './code/registrations.js'
export { createRuntime, openLocation, runtimeOn } from './create.js'
export type { DocumentRoom } from './document/document-rooms.js'
export { checkAlone, parseDocument, parseWorkflow } from './document/parse-document.js'
export type { PlannedText, ResolvedText, ResolveOptions } from './intent/conversation.js'
export type { IntentRequest } from './intent/intents.js'
export {
  type InspectOptions,
  inspectOpening,
  type OpeningReport
} from './location/inspect-opening.js'
export { type InspectedRunsHere, inspectRunsWith } from './location/inspect-runs.js'
export { type LocationRepair, repairLocation } from './location/location-repair.js'
export {
  askChainsWith,
  type CodeAtHand,
  checkUpgradeWith,
  openReader,
  type RecordOptions,
  recordRunAt,
  recordRunHere,
  recordRunOf,
  replayLocation,
  replayRecordingWith,
  verifyLocation
} from './location/reader.js'
export type { LedgerReader } from './location/reading-service.js'
export type {
  IdentityOptions,
  LocationIdentity,
  LocationOptions,
  LocationRuntime,
  LocationStatus
} from './location-api.js'
export { keyFilePath, MEMORY_LOCATION, type OpenOptions } from './open.js'
export type { RuntimeOnOptions } from './open-runtime-on.js'
export type { HandOver } from './opening/hand-over.js'
export {
  consentFlags,
  type OpeningCause,
  type RemediedCause,
  remedied
} from './opening/opening-remedies.js'
export { inspectPackages, type StoredPackages } from './opening/package-bytes.js'
export type { OutsideState, StateEntry, StateListOptions } from './queries/outside-state.js'
export type {
  Call,
  Calls,
  ChartAt,
  DocumentGraph,
  GraphEdge,
  GraphNode,
  RunChart,
  SignalLine
} from './queries/picture-types.js'
export { healthChecks, type Queries } from './queries/queries.js'
export type {
  EventPlace,
  FeedEvent,
  FollowedEntry,
  Found,
  GrantLine,
  HealthCheck,
  LogLine,
  Page,
  PageParams,
  QueryRequests,
  QueryStreams,
  RunCounts,
  RunFilter,
  RunLine,
  RunsFilter,
  ShownStatus,
  StateChange,
  StateLine,
  StateProof,
  VerificationProgress,
  WaitLine
} from './queries/query-types.js'
export type { QueuedLine, QueueLine, ScheduleLine } from './queries/work-lines.js'
export type { DeliveredEvent } from './run/channel.js'
export type { Answer, RunHandle, RunResult } from './run/handle.js'
export { commandIn, type GivenCommand } from './run/messages.js'
export type { OnQuarantine } from './run/quarantine.js'
export { quarantineWarning } from './run/quarantine-refusal.js'
export type { TraceOption } from './run/run-terms.js'
export type { ActorAt, BlockMark } from './run/shown-actors.js'
export type { SignalOptions } from './run/signal-options.js'
export type { StartedRun, StartOptions } from './run/start-options.js'
export type { WiredRuntime } from './runtime.js'
export type { FollowOptions, Runtime, RuntimeOptions, RuntimeStatus } from './runtime-api.js'
export type { Overlap, ScheduleOptions } from './schedule/schedule-options.js'
export type {
  AnswerAction,
  AnswerParams,
  JournalLine,
  ReceiptView,
  RunSummary,
  RunView,
  ServiceEvent,
  ServiceRequests,
  ServiceStatus,
  ServiceStreams
} from './service/service-types.js'
export type { ArchiveOptions, ArchiveResult } from './system/archive-options.js'
export type { ArchivePolicy } from './system/archive-policy.js'
export type { ErasedSubject } from './system/erasing.js'
export type { ExportOptions, ExportReport } from './system/exporting.js'
export type { OutsideSigner } from './system/own-keys.js'
