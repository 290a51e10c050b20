/** runtime: a ledger, what may run on it, and the runs of this process, wired together. */
export type { DeliveredEvent } from './channel.js'
export { defineConfig, type TallyConfig } from './config.js'
export type { PlannedText, ResolvedText, ResolveOptions } from './conversation.js'
export { createRuntime } from './create.js'
export type { ExportOptions, ExportReport } from './exporting.js'
export type { Answer, RunHandle, RunResult } from './handle.js'
export { type InspectOptions, inspectOpening, type OpeningReport } from './inspect-opening.js'
export type { IntentRequest } from './intents.js'
export { type LocationRepair, repairLocation } from './location-repair.js'
export { commandIn, type GivenCommand } from './messages.js'
export { keyFilePath, MEMORY_LOCATION, type OpenOptions } from './open.js'
export {
  consentFlags,
  type OpeningCause,
  type RemediedCause,
  remedied
} from './opening-remedies.js'
export { inspectPackages, type StoredPackages } from './package-bytes.js'
export { parseDocument } from './parse-document.js'
export type { OnQuarantine } from './quarantine.js'
export { quarantineWarning } from './quarantine-refusal.js'
export {
  checkUpgradeWith,
  type LedgerReader,
  openReader,
  replayLocation,
  verifyLocation
} from './reader.js'
export type { RecheckOptions, TransactionCheck } from './reconfirm.js'
export type { Registrations } from './registrations.js'
export type { TraceOption } from './run-terms.js'
export type { WiredRuntime } from './runtime.js'
export type { Runtime, RuntimeOptions, RuntimeStatus } from './runtime-api.js'
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
} from './service-types.js'
export type { StartOptions } from './start-options.js'
export type { RunReadiness } from './upgrade-check.js'
export type { VerifyOptions } from './verifying.js'
