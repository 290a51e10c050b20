import type { Completed } from '../run/decide.js'
import type { EntryDraft } from '../run/entries.js'
import type { Overlay } from '../run/overlay.js'
import type { RunState } from '../run/run-state.js'
import type { Attempt } from './attempt.js'
import type { PumpHost, RunEvent } from './host.js'
import type { Inbox } from './inbox.js'
import type { JournalWriter } from './journal-writer.js'

/** The state of a run whose attempts and overlays are live. */
export type LiveState = RunState<Attempt, Overlay>

/** What the parts of one run's pump share. */
export interface PumpParts {
  readonly host: PumpHost
  readonly state: LiveState
  readonly writer: JournalWriter
  readonly inbox: Inbox
  /** Appends an entry, reports and applies it; false when what it depends on has changed. */
  record(draft: EntryDraft, more?: Completed): boolean
  emit(event: RunEvent): void
  /** Whether nothing new may be begun. */
  readonly isStopping: boolean
}
