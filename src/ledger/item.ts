/** What is appended: the shapes of the `Journal` port, which the ledger implements. */
export type {
  Appended,
  EvidenceDraft,
  JournalItem,
  QueuePosition as Position,
  SealedReference,
  UnitDraft
} from '../core/index.js'
