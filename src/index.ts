/**
 * tallystick: run multi-step work as statechart blocks that leave signed, hash-chained receipts,
 * resume after any crash, and prove what happened by doing it again.
 *
 * @packageDocumentation
 */
export type {
  AuditFailure,
  Difference,
  ReceiptReplay,
  VerificationReport
} from './audit/index.js'
export {
  type Block,
  type BlockContext,
  type BlockDefinition,
  BlockFailure,
  type BlockState,
  type CompensatingEffect,
  type Compensation,
  type ConditionPredicate,
  DeterminismViolation,
  type Diagnostic,
  defineBlock,
  type EffectCall,
  EffectFailure,
  type EffectOptions,
  type LandedWrite,
  type Located,
  type MessageOutcome,
  type OpenWait,
  type Provider,
  type Request,
  type Response,
  type RunEvent,
  type SideEffectClass,
  type UnfinishedJournals,
  type WaitAnswer,
  type WaitOptions
} from './block/index.js'
export {
  type Approvers,
  type Clock,
  type DigestedWait,
  digestOf,
  type Environment,
  type ErrorCode,
  type Hash,
  type IdentityId,
  isTallyError,
  type Json,
  type Random,
  Redactor,
  type RunId,
  TallyError
} from './core/index.js'
export {
  type Approval,
  checkApproval,
  type KeySignature,
  type PoolMember,
  type SignedAnswer,
  type Signer,
  signApproval
} from './identity/index.js'
export type {
  ActorMessage,
  EventMessage,
  InspectionMessage,
  Inspector,
  SnapshotMessage
} from './inspect/index.js'
export {
  type DoneReply,
  type ErrorReply,
  type IntentPlan,
  type IntentReply,
  type IntentResolver,
  type KnownAction,
  type NetworkOptions,
  type NetworkPolicy,
  type PermissionReply,
  type PlannedStep,
  type Resolution,
  type ResolveQuestion,
  type ResolveSecret,
  type SecretGrant,
  secretsOf,
  type WaitingReply
} from './intent/index.js'
export {
  type ImportOptions,
  importSnapshot,
  type LedgerState,
  type LocationImport,
  type QuarantineMark,
  type Receipt,
  type RunRecord,
  type SnapshotReport,
  type StoredReceipt
} from './ledger/index.js'
export {
  type Answer,
  createRuntime,
  type DeliveredEvent,
  defineConfig,
  type ExportOptions,
  type ExportReport,
  type InspectionOptions,
  type IntentRequest,
  type OnQuarantine,
  type OutsideSigner,
  type PlannedText,
  type RecheckOptions,
  type Registrations,
  type ResolvedText,
  type ResolveOptions,
  type RunHandle,
  type RunReadiness,
  type RunResult,
  type Runtime,
  type RuntimeOptions,
  type RuntimeStatus,
  type StartOptions,
  type TallyConfig,
  type TransactionCheck,
  type VerifyOptions
} from './runtime/index.js'
