/**
 * ledger: one identity's signed chain, its state, the journal of its runs, and their store.
 */
export type {
  ArchiveProgress,
  ArchiveReport,
  OnArchiveProgress
} from './archive/archiving-api.js'
export { checkArchive, wholeStore } from './archive/asked.js'
export {
  type ArchivedHistory,
  type ArchiveEntry,
  archivedIn,
  signedHistory
} from './archive/history.js'
export { ROTATION_ACTION } from './chain/chain-head.js'
export type {
  Appended,
  EvidenceDraft,
  JournalItem,
  Position,
  SealedReference,
  UnitDraft
} from './item.js'
export type {
  CreateLedgerOptions,
  DurableCommit,
  JournalEntry,
  Ledger,
  LedgerState,
  LogRecord,
  OpenLedgerOptions,
  RunPictures,
  RunRecord,
  RunStatus,
  SavedCheckpoint,
  StoredReceipt
} from './ledger-api.js'
export {
  inspectLocation,
  type Location,
  type Marker,
  mainIdentity,
  readIfPresent,
  replaceFile,
  SubjectKeyFiles,
  syncDirectory,
  unfinishedData
} from './location/index.js'
export type { LedgerMode } from './mode.js'
export { beginLedger, createLedger, openLedger } from './open/open.js'
export {
  type HeldStore,
  type HoldOptions,
  holdForReading,
  holdStore,
  type OwnerHandler,
  type OwnerRequest,
  type OwnerSocket,
  type ReadableStore
} from './owner/index.js'
export type {
  CommitLine,
  LoggedLine,
  PastChange,
  PastCommit,
  PastInclusion,
  PastLedger,
  PastProof,
  PastValue,
  PastValues
} from './past/past-types.js'
export {
  markIn,
  markOf,
  marksOf,
  QUARANTINE_PREFIX,
  type QuarantineMark,
  storedMarks
} from './read/quarantine-marks.js'
export { parseEvidence, parseReceipt } from './receipt/parse.js'
export type {
  BlobReference,
  Evidence,
  InputPayload,
  Receipt,
  WriteSet,
  WriteSetEntry
} from './receipt/receipt.js'
export { repairLedger, salvagingStores } from './repair/asked.js'
export type { RepairOptions, RepairOutcome } from './repair/repair.js'
export type { ImportProgress } from './snapshot/build.js'
export { importIntoOpen, importSnapshot, openSnapshot } from './snapshot/import.js'
export type { ImportOptions, LocationImport } from './snapshot/importing.js'
export { type SnapshotReport, writeSnapshot } from './snapshot/write.js'
export { openLevelStore } from './stores/level.js'
export { isUnreadable } from './stores/level-errors.js'
export { openMemoryStore } from './stores/memory.js'
export type { KeyRange, Store, StoreItem } from './stores/port.js'
export { scrubStore } from './stores/scrub.js'
export { storeAround } from './stores/store-around.js'
export { SubjectCipher } from './subject/cipher.js'
export {
  isSubjectId,
  type SubjectId,
  type SubjectKeys,
  SubjectKeysInMemory
} from './subject/subject-keys.js'
export { ERASED_PREFIX, type LedgerSubjects, subjectOfText } from './subject/subjects-api.js'
export { isOfCodes } from './verify/code-check.js'
export { VerificationKey } from './verify/key.js'
export {
  type AnchorReport,
  type GivenNote,
  type HookVerdict,
  type ItemHook,
  type KeptPlace,
  noNoteGiven,
  type ReceiptHook,
  type SealedBody,
  type StateView,
  type VerificationFailure,
  type VerificationReport,
  type VerifiedItem,
  type VerifiedReceipt
} from './verify/report.js'
export { type VerifyOptions, verifyLedger } from './verify/verify.js'
export { storedCommits, watchedStore } from './verify/watched-store.js'
