/** audit: checks a ledger, and does again what it says was done. */
export type { CodeSource, RecordedCode } from './code-source.js'
export type { Difference } from './difference.js'
export { type LastReceiptReplay, replayLastReceipt } from './last-receipt.js'
export { currentProfile } from './profile.js'
export { type ReceiptReplay, reconstructState, replayReceipt } from './replay.js'
export {
  type AuditFailure,
  type VerificationReport,
  verificationLine
} from './report.js'
export { type DeepVerifyOptions, verifyLedgerDeep } from './verify.js'
