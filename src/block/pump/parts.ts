import type { Completed } from '../run/decide.js'
import type { EntryDraft } from '../run/entries.js'
import type { RunState } from '../run/run-state.js'
import type { Scope } from '../run/scope.js'
import type { Attempt } from './attempt.js'
import type { RunBook } from './book.js'
import type { PumpHost, RunEvent } from './host.js'
import type { Inbox } from './inbox.js'

/** The state of a run whose attempts and overlays are live. */
export type LiveState = RunState<Attempt, Scope>

/** What the parts of one run's pump share. */
export interface PumpParts {
  readonly host: PumpHost
  readonly state: LiveState
  readonly book: RunBook
  readonly inbox: Inbox
  /** Appends an entry, tells of it and applies it; false when what it rests on has changed. */
  record(draft: EntryDraft, more?: Completed): boolean
  emit(event: RunEvent): void
  /** Whether nothing new may be begun. */
  readonly isStopping: boolean
}
