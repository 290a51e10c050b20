import type { ReceiptReplay, VerificationReport } from '../../audit/index.js'
import type { Diagnostic, MessageOutcome, OpenWait, SignalOutcome } from '../../block/index.js'
import type { Response } from '../../code/index.js'
import type { Hash, IdentityId, Json, JsonObject, RunId } from '../../core/index.js'
import type { KeySignature } from '../../identity/index.js'
import type { IntentReply } from '../../intent/index.js'
import type {
  ArchiveProgress,
  GivenNote,
  LedgerMode,
  QuarantineMark,
  Receipt,
  RunStatus,
  WriteSet
} from '../../ledger/index.js'
import type { QueueTerms } from '../../queue/index.js'
import type { RecheckOptions, TransactionCheck } from '../audit/reconfirm.js'
import type { PlannedText } from '../intent/conversation.js'
import type { IntentRequest } from '../intent/intents.js'
import type { StateEntry } from '../queries/outside-state.js'
import type { Page, QueryRequests, QueryStreams } from '../queries/query-types.js'
import type { DeliveredEvent } from '../run/channel.js'
import type { RunResult } from '../run/handle.js'
import type { StartedRun } from '../run/start-options.js'
import type { ArchiveResult } from '../system/archive-options.js'
import type { ExportProgress, ExportReport } from '../system/exporting.js'
import type { RecordingPart } from './recording-parts.js'

/** The ledger and who holds it. */
export interface ServiceStatus {
  readonly identity: IdentityId
  readonly mode: LedgerMode
  readonly cause: { readonly code: string; readonly message: string } | null
  /** All causes of safe mode that opening found; `cause` is the first. */
  readonly causes: readonly { readonly code: string; readonly message: string }[]
  readonly receipts: number
  readonly epoch: number
  readonly location: string
  readonly process: number
  /** Opened without a key: it answers questions and takes no messages. */
  readonly readOnly: boolean
  /** Imported and not taken over. */
  readonly isFollower: boolean
  /** What could not be checked when it was opened, in words (K10). */
  readonly warnings: readonly string[]
  /** Runs that came out otherwise when they were executed again, and perform nothing (K10). */
  readonly quarantined: readonly QuarantineMark[]
}

export interface RunSummary {
  readonly id: RunId
  readonly name: string
  /** `imported`: open, in a ledger that was imported and not taken over. */
  readonly status: RunStatus | 'imported'
  /** Milliseconds on the run's clock. */
  readonly startedAt: number
  readonly updatedAt: number
  readonly entries: number
  /** Open waits that a message can end. */
  readonly waits: readonly OpenWait[]
  /** When it continues by itself, or null. */
  readonly due: number | null
  /** The queue in which it waits for its turn; absent: in none. */
  readonly queued?: QueueTerms
  /** It came out otherwise when it was executed again, and performs nothing (K10). */
  readonly quarantined: boolean
  /** Code of what is wrong with the run's records; then no wait is shown (L12). */
  readonly problem?: string
  /** What of it could not be compared with what is signed, in words (L12). */
  readonly notChecked: readonly string[]
}

export interface RunView extends RunSummary {
  readonly definitionHash: Hash
  readonly input: Json
  /** Null until it has ended. */
  readonly response: Response | null
  /** The `run.completed` receipt. */
  readonly receiptHash: Hash | null
  /** Those of its start and those that its code has set, sorted; absent: none. */
  readonly tags?: readonly string[]
  /** In memory now, and running. */
  readonly live: boolean
}

export interface ReceiptView {
  /** Place in the chain, from 0. */
  readonly index: number
  readonly commitSeq: number
  readonly receipt: Receipt
  readonly writeSet: WriteSet
  /** Null when withheld. */
  readonly payload: Json
  readonly result: Json
  /** Bodies that are not there: `payload`, `result`. */
  readonly withheld: readonly string[]
  /** What of it could not be compared with what is signed, in words (L12). */
  readonly notChecked: readonly string[]
  /** In a list: code of what keeps its result from being shown, which is null then. */
  readonly problem?: string
}

export interface JournalLine {
  readonly entry: Json
  readonly receiptHash: Hash | null
}

/** An answer to a wait. `resume` gives a value; the last four decide about a failure (B3, B9). */
export type AnswerAction = 'approve' | 'deny' | 'resume' | 'retry' | 'patch' | 'skip' | 'abort'

/** What follows a run ends with these, unless it fails: the run has ended, or waits. */
export type ServiceEvent = DeliveredEvent

type AsAgent = {
  /** Asks in the name of this program instead of the owner's, and with less rights (K13). */
  readonly agent?: string
}

type AsReader = AsAgent & {
  /** The agent may answer waits: it sees the runs that wait for what it may answer. */
  readonly answers?: boolean
}

type Following = {
  /** Keeps following when the run waits for a message, until it has ended. */
  readonly follow?: boolean
}

/** Methods with one result. */
export interface ServiceRequests extends QueryRequests {
  readonly status: { readonly params: object; readonly result: ServiceStatus }
  /**
   * Starts a run, or attaches to the one that has this id (L6), once its start is on disk; or says
   * why it was refused, of which nothing is recorded.
   */
  readonly start: {
    readonly params: StartParams
    readonly result: StartedRun | { readonly refused: RunResult }
  }
  readonly show: { readonly params: AsReader & { readonly id: string }; readonly result: RunView }
  readonly receipt: {
    /** Hash, or place in the chain. */
    readonly params: AsReader & { readonly hash?: string; readonly index?: number }
    readonly result: ReceiptView
  }
  readonly cancel: {
    readonly params: { readonly id: string; readonly reason?: string }
    readonly result: RunView
  }
  /** Sends a run a signal of the owner's; `signalId` makes it safe to send again. */
  readonly signal: {
    readonly params: {
      readonly id: string
      readonly name: string
      readonly value?: Json
      readonly signalId?: string
      readonly by?: string
    }
    readonly result: SignalOutcome
  }
  /** Answers without following the run; `answer` as a stream does both. */
  readonly message: {
    readonly params: AnswerParams & AsAgent
    readonly result: MessageOutcome
  }
  /** What a run has published last under a key; no value: nothing. */
  readonly published: {
    readonly params: { readonly id: string; readonly key: string }
    readonly result: { readonly value?: Json }
  }
  /** The state as it is on disk: one key, and keys with their values in order. */
  readonly stateValue: {
    readonly params: { readonly key: string }
    readonly result: { readonly value?: Json }
  }
  readonly stateValues: {
    readonly params: { readonly prefix?: string; readonly limit?: number; readonly after?: string }
    readonly result: Page<StateEntry>
  }
  readonly verify: {
    readonly params: {
      readonly notes?: readonly GivenNote[]
      /** Executes everything again. */
      readonly replay?: boolean
      /** How often; more than once compares the executions (P2). */
      readonly executions?: number
      /** Paths of all archives of the ledger, on its machine. */
      readonly archives?: readonly string[]
    }
    readonly result: VerificationReport
  }
  /** Does one receipt again, by its hash or its place in the chain. */
  readonly replay: {
    readonly params: { readonly hash?: string; readonly index?: number }
    readonly result: ReceiptReplay
  }
  /** Asks the chains about what a run has as confirmed; nothing of the run changes. */
  readonly recheck: {
    readonly params: { readonly id: string } & RecheckOptions
    readonly result: readonly TransactionCheck[]
  }
  readonly note: { readonly params: object; readonly result: { readonly note: string } }
  /** Writes a snapshot to a path on the machine of the ledger. */
  readonly export: { readonly params: ExportParams; readonly result: ExportReport }
  /** Does an intent, or tells what it waits for. */
  readonly intent: {
    readonly params: IntentRequest & AsAgent
    readonly result: IntentReply
  }
  /** What a text means and how it would be done; nothing of it is done. */
  readonly resolve: {
    readonly params: { readonly text: string; readonly provider?: string }
    readonly result: PlannedText
  }
  /** Puts a packed package into the content store and installs it. */
  readonly install: {
    readonly params: { readonly package: string }
    readonly result: IntentReply
  }
  readonly lint: {
    readonly params: { readonly document: string }
    readonly result: { readonly diagnostics: readonly Diagnostic[] }
  }
}

export interface StartParams extends AsAgent {
  readonly document?: string
  /** Instead of `document`: the name of a published one, with the versions pinned for it. */
  readonly published?: string
  /** Instead of `document`: a registered workflow in code, by `name` or `name@version`. */
  readonly workflow?: string
  readonly id: string
  readonly inputs?: Json
  readonly context?: JsonObject
  /** A W3C `traceparent`. */
  readonly trace?: string
  /** By which it is found; of the owner alone, as is the queue in which it waits. */
  readonly tags?: readonly string[]
  /** Whose data it is about; the owner's to say, too. */
  readonly subject?: string
  readonly queue?: string | QueueTerms
}

export interface ExportParams {
  readonly path: string
  readonly unsigned?: boolean
  readonly damaged?: boolean
  /** Paths of all archives of the ledger. */
  readonly archives?: readonly string[]
}

export interface ArchiveParams {
  readonly path: string
  /** Milliseconds. */
  readonly before?: number
  /** Hash of a receipt, or its place in the chain: in place of `before`. */
  readonly through?: string
  readonly throughIndex?: number
}

export interface AnswerParams {
  readonly id: string
  readonly token: string
  readonly digest: string
  readonly action: AnswerAction
  readonly by?: string
  readonly value?: Json
  /** Who has signed the answer, and the signature. */
  readonly approval?: KeySignature
  /** Names the command, so that giving it twice changes nothing (W10). */
  readonly commandId?: string
}

/** Methods with a stream of results. */
export interface ServiceStreams extends QueryStreams {
  readonly runs: { readonly params: AsReader; readonly event: RunSummary }
  readonly receipts: {
    readonly params: AsReader & {
      readonly from?: number
      readonly to?: number
      readonly last?: number
    }
    readonly event: ReceiptView
  }
  /** From entry `from` on, default: the first; `limit` of them at most, default: all. */
  readonly journal: {
    readonly params: { readonly id: string; readonly from?: number; readonly limit?: number }
    readonly event: JournalLine
  }
  /** `export` that says how far it is; the last event has its report. */
  readonly exporting: {
    readonly params: ExportParams
    readonly event: ExportProgress | { readonly phase: 'done'; readonly report: ExportReport }
  }
  /** Moves history into a file on the machine of the ledger; the last event has its report. */
  readonly archiving: {
    readonly params: ArchiveParams
    readonly event: ArchiveProgress | { readonly phase: 'done'; readonly report: ArchiveResult }
  }
  /** A run with all that doing it again needs beside its code. */
  readonly recording: { readonly params: { readonly id: string }; readonly event: RecordingPart }
  /** Starts a run, or attaches to the one that has this id (L6). */
  readonly run: {
    readonly params: Following & StartParams
    readonly event: ServiceEvent
  }
  /** Resumes an interrupted run. */
  readonly resume: {
    readonly params: Following & { readonly id: string }
    readonly event: ServiceEvent
  }
  readonly answer: { readonly params: Following & AnswerParams; readonly event: ServiceEvent }
  /** Follows a run without resuming it. */
  readonly events: {
    readonly params: Following & { readonly id: string }
    readonly event: ServiceEvent
  }
}
