import type { RunId } from '../../core/index.js'
import { keyOfText } from './encrypted-text.js'
import type { SubjectId } from './subject-keys.js'

/** State entries that say whose keys were erased, by the id of the key. */
export const ERASED_PREFIX = 'system/erased/'

/** Under whose key an encrypted text is; undefined for any other text. */
export function subjectOfText(text: string): SubjectId | undefined {
  return keyOfText(text)?.id
}

/** Subjects of the runs of one ledger. */
export interface LedgerSubjects {
  /** Throws `ledger.no_subjects` without keys. */
  idOf(subject: string): SubjectId
  /** Makes the key of a subject, unless it is there. Throws `ledger.subject_erased`. */
  begin(subject: string): Promise<void>
  /** A run of this subject is about to begin: its first entry may come after much of its work. */
  expect(runId: RunId, subject: string): void
  /**
   * Puts what a schedule begins under the key of a subject, which {@link begin} has made. Throws
   * `ledger.no_subject_key`.
   */
  sealSchedule(subject: string, name: string, text: string): string
  /** What was sealed; undefined where the key is not here. Throws `ledger.corrupt`. */
  openSchedule(name: string, sealed: string): string | undefined
  /** Whether a receipt says that the key was erased, or one is about to. */
  isErased(id: SubjectId): boolean
  /** Whether the key is here. */
  has(id: SubjectId): boolean
  /** Whose key a run is kept under; undefined for one without a subject. */
  of(runId: RunId): SubjectId | undefined
  /** No run begins under the key from now on, until {@link reopen}: it is about to be erased. */
  close(id: SubjectId): void
  reopen(id: SubjectId): void
  /** Removes the key, durably. Nothing that is under it is read again. */
  destroy(id: SubjectId): Promise<void>
}
