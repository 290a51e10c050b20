import type { RunId } from '../../core/index.js'
import type { EvidenceDraft } from '../journal.js'
import type { Delivery, Response } from '../protocol.js'
import type { CancelAsked, EntryDraft, RunStarted } from '../run/entries.js'
import type { RootBlock } from '../run/root-block.js'
import type { WaitTerms } from '../run/waits.js'
import type { Agenda } from './agenda.js'
import type { Attempt } from './attempt.js'
import type { Completed } from './book.js'
import type { EarlyExecution } from './early.js'
import type { PumpHost, RunCheckpoint } from './host.js'
import type { Inbox } from './inbox.js'
import type { Leaves } from './leaves.js'
import type { RunEnd } from './run-end.js'
import type { Scopes, ScopesPort } from './scopes.js'

/** The pump of a run, as what is done for it in other files needs it. */
export interface RunDriver extends ScopesPort {
  readonly leaves: Leaves
  readonly scopes: Scopes
  readonly agenda: Agenda
  readonly inbox: Inbox
  /** False while recorded entries are applied: nothing is decided, sent or told then. */
  readonly isLive: boolean
  record(draft: EntryDraft, more?: Completed): void
  deliver(path: string, event: Delivery): void
  openWait(terms: WaitTerms, evidence?: EvidenceDraft): void
  quiet(attempt: Attempt): Promise<void>
  begin(entry: RunStarted): void
  cancelled(entry: CancelAsked): void
  settle(response: Response): void
  end(end: RunEnd): void
}

export interface RunPumpOptions {
  readonly runId: RunId
  readonly host: PumpHost
  readonly root: RootBlock
  readonly checkpoint?: RunCheckpoint | undefined
  /** Of a lone leaf: its first execution, when it has begun already. */
  readonly early?: EarlyExecution | undefined
}
