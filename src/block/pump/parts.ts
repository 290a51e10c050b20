import type { Given } from '../run/decide.js'
import type { LiveState } from './attempt.js'
import type { PumpHost } from './host.js'
import type { Inbox } from './inbox.js'
import type { JournalWriter } from './journal-writer.js'

/** What the parts of one run's pump share. */
export interface PumpParts {
  /** Takes what charts have asked for since: entries that come next may be about it. */
  takeAsks(): void
  readonly host: PumpHost
  readonly state: LiveState
  readonly writer: JournalWriter
  readonly inbox: Inbox
  /** What deciding needs. */
  readonly given: Given
}
