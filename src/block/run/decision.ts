import type { EntryDraft } from './entries.js'
import type { EvidenceDraft, JournalItem, UnitDraft } from './journal.js'

/** An entry that was decided, and what it completes. */
export interface Decision {
  readonly draft: EntryDraft
  readonly more: Completed
}

/** What an entry completes, and what of its text is known. */
export interface Completed {
  readonly unit?: UnitDraft
  readonly evidence?: EvidenceDraft
  /** Canonical text of the data of a step that succeeded. */
  readonly dataText?: string
  readonly known?: { get(value: object): string | undefined }
  /** State that an entry without a unit depends on (L10). */
  readonly rests?: JournalItem['rests']
}
