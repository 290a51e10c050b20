import type {
  Hash,
  IdentityId,
  Json,
  JsonObject,
  RunId,
  TallyError,
  UnitId
} from '../core/index.js'
import type { Signer } from '../identity/index.js'
import type { LedgerArchiving } from './archive/archiving-api.js'
import type { Appended, JournalItem, Position } from './item.js'
import type { ReadHash } from './log/index.js'
import type { LedgerMode } from './mode.js'
import type { PastLedger } from './past/past-types.js'
import type { Evidence, Receipt, WriteSet } from './receipt/receipt.js'
import type { Restoring } from './restoring.js'
import type { Store } from './stores/port.js'
import type { SubjectId, SubjectKeys } from './subject/subject-keys.js'
import type { LedgerSubjects } from './subject/subjects-api.js'
import type { VerificationKey } from './verify/key.js'

/** How a ledger stands: its mode, its identity, how long its chain is. */
export interface LedgerState {
  readonly mode: LedgerMode
  /** Error code and message, in modes `safe` and `poisoned`. */
  readonly cause?: { readonly code: string; readonly message: string }
  readonly identity: IdentityId
  /** Receipts appended, queued ones included. */
  readonly receipts: number
  readonly epoch: number
}

export interface CreateLedgerOptions {
  readonly store: Store
  readonly identity: IdentityId
  /** Holder of the key in force. */
  readonly signer: Signer
  /** 32 bytes from which blob salts are derived (formats.md §3). */
  readonly blobKey: Uint8Array
  /** Keys of subjects; without them no run has one, and what is encrypted is not read. */
  readonly subjects?: SubjectKeys | undefined
}

export interface OpenLedgerOptions extends Omit<CreateLedgerOptions, 'blobKey'> {
  /** Without it derived records are neither trusted nor written: they are made in memory (L12). */
  readonly blobKey?: Uint8Array
  /** Creates the identity's first head when it has none; otherwise `ledger.not_found` (L4). */
  readonly create?: 'if-absent'
  /** Reads only: no epoch is written and `append` is refused. */
  readonly readOnly?: boolean
}

/** A record of one run, folded from its `run.*` journal entries. */
export interface RunRecord {
  readonly runId: RunId
  readonly status: RunStatus
  /** The `run.started` entry. */
  readonly started: JsonObject
  /** The last `run.*` entry. */
  readonly last: JsonObject
  /** Journal entries of the run. */
  readonly entries: number
  /** Milliseconds: `at` of the last `run.*` entry. */
  readonly updatedAt: number
  /** The key of its subject was erased, or is not here: its entries say what is in clear alone. */
  readonly isErased?: true
  /** Under whose key it is; absent: it has no subject. */
  readonly subject?: SubjectId
}

export type RunStatus = 'running' | 'waiting' | 'done' | 'failed' | 'cancelled'

/** A receipt as it is stored, with what is kept beside it. */
export interface StoredReceipt {
  /** Place in the chain, from 0. */
  readonly index: number
  readonly receipt: Receipt
  /** The stored canonical JSON. */
  readonly text: string
  readonly writeSet: WriteSet
  /** Canonical JSON of the result; undefined when its body is withheld. */
  readonly resultText: string | undefined
  /** Whether the stored result is the one that the receipt signs. */
  readonly isResultSigned: boolean
  /** Canonical JSON of the payload; undefined when its body is withheld. */
  readonly payloadText: string | undefined
  readonly raw: string | undefined
  /** Commit record that holds it. */
  readonly commitSeq: number
}

/** One signed record of the log, in log order. */
export type LogRecord =
  | {
      readonly kind: 'receipt'
      readonly leaf: number
      readonly text: string
      readonly receipt: Receipt
    }
  | {
      readonly kind: 'evidence'
      readonly leaf: number
      readonly text: string
      readonly evidence: Evidence
    }

/** One entry of a run's journal. */
export interface JournalEntry {
  readonly n: number
  readonly text: string
  readonly value: Json
  /** Code over the run's journal up to this entry; see `authenticate`. */
  readonly mac?: Hash
  /** Receipt of the unit that this entry completed. */
  readonly receiptHash?: Hash
  /** Stored evidence that this entry left in the log. */
  readonly evidence?: string
  /** Commit record that holds it. */
  readonly commitSeq: number
}

/** What a commit has brought. */
export interface DurableCommit {
  readonly seq: number
  /** In the order in which they were appended. */
  readonly items: readonly { readonly runId: RunId; readonly entries: readonly string[] }[]
  readonly written?: CommitWritten
}

/** How a commit was written by this process. */
export interface CommitWritten {
  /** Everything up to here is durable. */
  readonly position: Position
  /** Receipts in it, and the bytes of its record. */
  readonly units: number
  readonly bytes: number
  /** Receipts of the chain, those of this commit included. */
  readonly receipts: number
  /** From its signing to its sync. */
  readonly durationMs: number
}

/** A journal that holds entries which this ledger has not written. */
export interface ForgedJournal {
  readonly runId: RunId
  /** Last entry of the first item whose code does not fit. */
  readonly entry: number
}

/** A run's persisted actors (formats.md §7). */
export interface SavedCheckpoint {
  readonly text: string
  /** Journal entries of the run that it covers. */
  readonly entries: number
}

/** Which picture of a run: `stretch` counts from 0. */
export interface PicturePlace {
  readonly runId: RunId
  readonly stretch: number
}

/** Pictures of stretches of the journals of runs: they save time, and are never needed. */
export interface RunPictures {
  /** Keeps one once `position` is durable. Null removes it. */
  savePicture(place: PicturePlace, text: string | null, position: Position): void
  /** Undefined: there is none, or none by the key of this ledger. */
  picture(place: PicturePlace): string | undefined
}

/**
 * One identity's chain, state and journal: the `Journal` port of the block room, and reading.
 * Throws `ledger.poisoned`, `ledger.safe_mode`, `ledger.restoring`, `ledger.read_only` or
 * `ledger.closed` when it cannot take an append; reading works in safe mode.
 */
export interface Ledger {
  /** Whether codes by the key of the ledger can be written and checked (L12). */
  readonly hasKey: boolean
  /** For verifications of this ledger; undefined without the key. */
  readonly verificationKey: VerificationKey | undefined
  readonly identity: IdentityId
  /** What it is doing: {@link Ledger.state} without the rest. */
  readonly mode: LedgerMode
  /** Hash of the last queued receipt. */
  head(): Hash | null
  /** Canonical JSON of a state entry, queued changes included. */
  read(key: string): string | undefined
  /** Keys that begin with `prefix`, by UTF-16 code units, queued changes included. */
  list(prefix: string): Promise<readonly string[]>
  append(item: JournalItem): Appended
  /** Resolves when everything up to `position` is on disk, or up to the last that there is. */
  durable(position: Position): Promise<void>
  /** Whether everything up to `position` is on disk. */
  isDurable(position: Position): boolean
  backlog(): { readonly items: number; readonly bytes: number }
  /** Code over a hash that needs the blob key: what the owner wrote, and no other. */
  authenticate(hash: Hash): Hash
  seal(unitId: UnitId, seq: number, bodyText: string): { readonly salt: Hash; readonly hash: Hash }

  /** Durable receipts `from` <= index < `to`, in order. */
  receipts(range?: { readonly from?: number; readonly to?: number }): AsyncIterable<StoredReceipt>
  /** A durable receipt by its hash or by its place in the chain. */
  receipt(which: Hash | number): Promise<StoredReceipt | undefined>
  /** The durable receipt of a unit of work (L6). */
  unit(unitId: UnitId): Promise<StoredReceipt | undefined>
  /** Whether a unit has a receipt, queued ones included. */
  hasUnit(unitId: UnitId): Promise<boolean>
  /** Receipts and evidence from leaf `from`, in log order. */
  log(range?: { readonly from?: number; readonly to?: number }): AsyncIterable<LogRecord>
  /** A run's record, queued entries included unless `durable`. */
  run(runId: RunId, options?: { readonly durable?: boolean }): RunRecord | undefined
  /** Whether a run has a record, queued entries included: cheaper than to read it. */
  hasRun(runId: RunId): boolean
  /**
   * Records of the runs whose ids begin with `prefix` by id, or of all, queued entries included
   * unless `durable`. Reads each; {@link openRuns} reads those alone that have not ended.
   */
  runs(options?: { readonly durable?: boolean; readonly prefix?: string }): AsyncIterable<RunRecord>
  /** Records of the runs that have not ended by id, queued entries included unless `durable`. */
  openRuns(options?: { readonly durable?: boolean }): Iterable<RunRecord>
  /** Durable journal entries of a run from number `from`: those whose texts are wanted, or all. */
  journal(
    runId: RunId,
    from?: number,
    isWanted?: (text: string) => boolean
  ): AsyncIterable<JournalEntry>
  /** The durable journal of a run from number `from`, many entries at once: for long ones. */
  journalParts(runId: RunId, from?: number): AsyncIterable<readonly JournalEntry[]>
  /**
   * Of the journals of several runs the durable entries whose texts hold one of `texts`, by run.
   */
  journals(
    runIds: Iterable<RunId>,
    texts: readonly string[]
  ): AsyncIterable<readonly JournalEntry[]>
  /**
   * What open runs have in their journals that this ledger has not written, by its key: the first
   * of it. Signed hashes cover the journals of runs that have ended.
   */
  forgedJournal(): Promise<ForgedJournal | undefined>
  /** What it was, by commit and by receipt. Costs nothing before it is asked for. */
  past(): Promise<PastLedger>
  /** Durable state entries by key: key and canonical JSON. */
  stateEntries(): AsyncIterable<readonly [key: string, text: string]>
  /** Keeps a checkpoint once `position` is durable; the newest of a run wins. Null removes it. */
  saveCheckpoint(runId: RunId, checkpoint: SavedCheckpoint | null, position: Position): void
  checkpoint(runId: RunId): SavedCheckpoint | undefined
  readonly pictures: RunPictures

  /** Execution root after the last queued receipt, and the head root over it (formats.md §4). */
  roots(): { readonly execution: Hash; readonly head: Hash; readonly storage: Hash }
  /**
   * Waits for everything queued, then signs the log's current root (formats.md §5). Throws as
   * {@link append} does: what is wrong is not endorsed.
   */
  note(): Promise<string>
  /**
   * Hands the identity over to a new key (formats.md §2). `item` makes the journal item of the
   * rotation receipt from its payload; its unit's action must be {@link ROTATION_ACTION}.
   */
  rotate(options: {
    readonly signer: Signer
    readonly item: (payloadText: string) => JournalItem
  }): Promise<Appended>
  /** Reads hashes of the log, for proofs, up to the size that it gives. */
  logHashes(): Promise<{ readonly size: number; readonly readHash: ReadHash }>
  state(): LedgerState
  /**
   * Poisons the ledger: a write of its store has failed, of whichever ledger it was (L3). Gives
   * what pending and later calls are refused with.
   */
  storeFailed(error: unknown): TallyError
  /** Refuses appends from now on, because something was found wrong (L4). */
  enterSafeMode(cause: { readonly code: string; readonly message: string }): void
  /**
   * Ends safe mode after a clean full verification (K2). Throws `ledger.not_recoverable` when the
   * report is not clean, or when the ledger was opened in safe mode: then open it again.
   */
  leaveSafeMode(report: { readonly ok: boolean }): void
  /** Subjects of runs, whose keys can be erased. */
  readonly subjects: LedgerSubjects
  /** What was archived, and archiving more. */
  readonly archiving: LedgerArchiving
  /** For the import that puts a snapshot in its place. */
  readonly restoring: Restoring
  /**
   * Calls `listener` after each commit, once it is durable and its records are found; the returned
   * function stops it. What it throws would poison the ledger: it only takes note.
   */
  onCommit(listener: (commit: DurableCommit) => void): () => void
  /** Calls `listener` on each change of mode; the returned function stops it. */
  onMode(listener: (state: LedgerState) => void): () => void
  /**
   * Makes everything durable and writes derived records; the caller that opened store and signer
   * closes them.
   */
  close(): Promise<void>
}
