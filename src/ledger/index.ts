/**
 * ledger: one identity's signed chain, its state, the journal of its runs, and their store.
 */
export { ROTATION_ACTION } from './chain/tip.js'
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
  JournalEntry,
  Ledger,
  LedgerMode,
  LedgerState,
  LogRecord,
  OpenLedgerOptions,
  RunRecord,
  RunStatus,
  SavedCheckpoint,
  StoredReceipt
} from './ledger-api.js'
export { createLedger, openLedger } from './open/open.js'
export type {
  BlobReference,
  Evidence,
  InputPayload,
  Receipt,
  WriteSet,
  WriteSetEntry
} from './receipt/receipt.js'
export type { KeyRange, Store, StoreItem } from './stores/port.js'
