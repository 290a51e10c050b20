/** audit: checks a ledger, and does again what it says was done. */
export type { CodeSource, RecordedCode } from './code-source.js'
export type { Difference } from './difference.js'
export { type LastReceiptReplay, replayLastReceipt } from './last-receipt.js'
export { currentProfile } from './profile.js'
export type { RecordedCalls, RecordingDifference, RecordingReplay } from './recording-replay.js'
export {
  callsInRecording,
  type ReceiptReplay,
  reconstructState,
  recordingIn,
  recordingText,
  recordRun,
  replayReceipt,
  replayRecording
} from './replay.js'
export {
  type AuditFailure,
  type VerificationReport,
  verificationLine
} from './report.js'
export type {
  RecordedEntry,
  RecordedReceipt,
  RecordedValue,
  RunRecording
} from './run-recording.js'
export { type DeepVerifyOptions, verifyLedgerDeep } from './verify.js'
