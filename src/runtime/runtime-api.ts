import type { EventEmitter } from 'eventemitter3'
import type { ReceiptReplay, VerificationReport } from '../audit/index.js'
import type { Diagnostic, PumpHost, SignalOutcome } from '../block/index.js'
import type { Sandbox } from '../capability/index.js'
import type { Workflow } from '../code/index.js'
import type { Clock, Hash, IdentityId, Json, Random } from '../core/index.js'
import type { InspectionMessage, Inspector } from '../inspect/index.js'
import type { IntentReply, NetworkOptions, StageListener, Versions } from '../intent/index.js'
import type {
  JournalEntry,
  LedgerState,
  QuarantineMark,
  RunRecord,
  StoredReceipt
} from '../ledger/index.js'
import type { RunningTelemetry, Telemetry } from '../telemetry/index.js'
import type { InspectionOptions } from './audit/inspecting.js'
import type { RecheckOptions, TransactionCheck } from './audit/reconfirm.js'
import type { RunReadiness } from './audit/upgrade-check.js'
import type { RuntimeAudit, VerifyOptions } from './audit/verifying.js'
import type { Registrations } from './code/registrations.js'
import type { PlannedText, ResolvedText, ResolveOptions } from './intent/conversation.js'
import type { IntentRequest } from './intent/intents.js'
import type { OpenOptions } from './open.js'
import type { OutsideState } from './queries/outside-state.js'
import type { Queries } from './queries/queries.js'
import type {
  EventPlace,
  FollowedEntry,
  Page,
  RunLine,
  RunsFilter,
  WaitLine,
  WaitsFilter
} from './queries/query-types.js'
import type { QueueLine } from './queries/work-lines.js'
import type { DeliveredEvent } from './run/channel.js'
import type { RunHandle } from './run/handle.js'
import type { OnQuarantine } from './run/quarantine.js'
import type { SignalOptions } from './run/signal-options.js'
import type { StartedRun, StartOptions, WorkflowStartOptions } from './run/start-options.js'
import type { ScheduleOptions } from './schedule/schedule-options.js'
import type { ArchiveOptions, ArchiveResult } from './system/archive-options.js'
import type { ArchivePolicy } from './system/archive-policy.js'
import type { ErasedSubject } from './system/erasing.js'
import type { ExportOptions, ExportReport } from './system/exporting.js'

/** Where the ledger is, what code runs on it, and how it behaves. */
export interface RuntimeOptions extends Registrations, OpenOptions {
  /**
   * `output` (default): steps run ahead of the disk, and nothing leaves the process before it is
   * durable. `step`: every step is durable before the next one begins (D2).
   */
  readonly durability?: 'output' | 'step'
  /**
   * Resumes every run that was interrupted, and arms the due times of those that wait, before this
   * resolves. Default true; false: `tally.resume(id)` does it one by one. One that cannot continue
   * here rests, and `status().warnings` says why. A ledger in safe mode resumes nothing.
   */
  readonly resume?: boolean
  /**
   * Registered as by {@link Runtime.schedule}, before anything falls due; where nothing is resumed,
   * nothing is registered, and nothing begins by time.
   */
  readonly schedules?: readonly ScheduleOptions[]
  /** Hears every event of {@link Runtime.events}, from the first run that is resumed on. */
  readonly onEvent?: (event: DeliveredEvent) => void
  /**
   * Listens on the owner socket, so that the command line and other processes of this user can see
   * and answer the runs (L11). Default true for ledgers on disk.
   */
  readonly serve?: boolean
  /**
   * Directories of capability packages. One that nothing is installed of yet is installed; other
   * code than what is installed is not loaded (K10).
   */
  readonly packages?: readonly string[]
  /**
   * Where packages may reach by `network.request`, and which servers documents may name (K15): by
   * default public ones over TLS.
   */
  readonly network?: NetworkOptions
  /**
   * Files and directories that no document has read by a loader, wherever they lie: the program's
   * own configuration, other key stores. The directory of every ledger is closed anyway.
   */
  readonly closedPaths?: readonly string[]
  /**
   * `replay`: reads, verifies and replays, and takes no new runs and intents (K10). Default
   * `normal`.
   */
  readonly mode?: 'normal' | 'replay'
  /**
   * Archives history by itself once it is this old, as by {@link Runtime.archive}. Default: nothing
   * is archived. What stood in the way is in `status().warnings`.
   *
   * @example
   * archive: { after: '30d', directory: 'archives' }
   */
  readonly archive?: ArchivePolicy
  /**
   * A run whose results come out otherwise when they are executed again is quarantined. `warn`
   * (default): new runs of its blocks begin as ever. `refuse_version`: no run begins whose document
   * names the block in that version, or whose intent that block or package would do as things are
   * when it begins, until the run is released. A refused intent is answered as
   * `version_quarantined`.
   */
  readonly onQuarantine?: OnQuarantine
  /** Sees what every run does, as by {@link Runtime.inspect}, runs that are resumed too. */
  readonly inspect?: Inspector
  /**
   * Gives spans and metrics of everything that is done here: `openTelemetry()` of
   * `tallystick/telemetry`. Rejects with `telemetry.missing_library`.
   */
  readonly telemetry?: Telemetry
  readonly clock?: Clock
  readonly random?: Random
}

/** Where following begins, and what ends it. */
export interface FollowOptions {
  /** Place of the last entry that was got: `Last-Event-ID` of SSE. */
  readonly after?: EventPlace | undefined
  readonly signal?: AbortSignal | undefined
}

/** How a ledger stands, and what its owner should know. */
export interface RuntimeStatus extends LedgerState {
  /** What could not be checked when it was opened, in words; no reason for safe mode (K10). */
  readonly warnings: readonly string[]
  /** Runs that came out otherwise when they were executed again, and perform nothing (K10). */
  readonly quarantined: readonly QuarantineMark[]
}

/**
 * Runs documents against one ledger.
 *
 * @example
 * await using tally = await createRuntime({ location: './ledger', create: 'if-absent', blocks })
 * const text = await readFile('pay.yaml', 'utf8')
 * const { id } = await tally.start(text, { id: 'june', inputs: { limit: '500' } })
 * const { status, response } = await (await tally.attach(id)).result
 */
export interface Runtime extends AsyncDisposable {
  readonly identity: IdentityId
  /**
   * Every event of every run started after the first listener was added; as `--json` prints them.
   */
  readonly events: EventEmitter<{ event: (event: DeliveredEvent) => void }>
  /** As below, of a registered workflow in code, with its input. */
  start<Input>(
    workflow: Workflow<Input, unknown>,
    input: NoInfer<Input>,
    options?: WorkflowStartOptions
  ): Promise<StartedRun>
  /**
   * Starts a run of a document: YAML or JSON text, or the parsed document. Resolves once the start
   * (id, definition, input) is on disk, so that work that was accepted outlives this process: the
   * same id with the same document and inputs is the same run (L6), and then `isNew` is false.
   * Rejects with `run.id_reused` when the id belongs to other work, with `ledger.poisoned`, with
   * `run.invalid_options` where inputs are given in the place of options, and for
   * an invalid document or invalid inputs, of which nothing is recorded, with `run.refused`: its
   * `cause` is the failed `Response`, whose `details.diagnostics` list what is wrong.
   */
  start(document: string | Json, options?: StartOptions): Promise<StartedRun>
  /** As below, of a registered workflow in code; what it gives has its type. */
  begin<Input, Output>(
    workflow: Workflow<Input, Output>,
    input: NoInfer<Input>,
    options?: WorkflowStartOptions
  ): RunHandle<Output>
  /**
   * As {@link start}, and gives the handle at once, for those who read events from the first on.
   * Nothing is on disk yet when it returns; what refuses the run rejects `result`, or is it.
   */
  begin(document: string | Json, options?: StartOptions): RunHandle
  /**
   * Has an action done by the block or package that serves it, as one unit of work with one receipt
   * (K1). Resolves with its result, or with what it waits for: then it continues by itself once
   * that is there, and `result` awaits its end. Rejects only with what rejects runs.
   */
  intent(request: IntentRequest): Promise<IntentReply>
  /** What an intent came to in the end. Rejects with `run.not_found`. */
  result(id: string): Promise<IntentReply>
  /** What a text means: kernel patterns, then an AI provider, then `ai.chat`; nothing is done. */
  resolveIntent(text: string, options?: ResolveOptions): Promise<ResolvedText>
  /** {@link resolveIntent}, with the steps that doing it would take. */
  planText(text: string, options?: ResolveOptions): Promise<PlannedText>
  /** Installs a package: its text as `tally package pack` writes it. */
  install(packed: string): Promise<IntentReply>
  /** A run of this ledger by its id, without resuming it. Rejects with `run.not_found`. */
  attach(id: string): Promise<RunHandle>
  /**
   * Sends a run a signal by name: the code that asks for one (`ctx.signal(name)`) gets it, now or
   * when it comes to that. Resolves once the run has it on disk, or with the reason why it is not
   * taken: then nothing has changed. An `id` makes it safe to send again. Rejects with
   * `run.not_found`, `core.limit_exceeded`, `run.quarantined`, `run.code_missing`.
   *
   * @example
   * await tally.signal('order-17', 'paid', { amount: '12.00' }, { id: delivery })
   */
  signal(id: string, name: string, value?: Json, options?: SignalOptions): Promise<SignalOutcome>
  /**
   * Begins runs of a workflow or a document by time, from now on and in every process that holds
   * the ledger; a receipt of the owner says so. Registered again as it is, nothing changes;
   * otherwise it takes the place of the earlier one. Rejects with `runtime.invalid_schedule`,
   * `runtime.workflow_not_registered`. `tally.queries.schedules()` lists them, and the intents
   * `system.schedule.pause`, `.resume` and `.remove` do what they say.
   *
   * @example
   * await tally.schedule({ name: 'nightly', cron: '0 3 * * *', timeZone: 'Asia/Tokyo', workflow })
   */
  schedule<Input = unknown>(schedule: ScheduleOptions<Input>): Promise<IntentReply>
  /**
   * Lets a quarantined run continue with the registered code: a receipt says so, and the run then
   * continues as any other. Fails as `not_quarantined`.
   */
  release(id: string): Promise<IntentReply>
  /** Resumes an interrupted run. Rejects with `run.quarantined`. */
  resume(id: string): Promise<RunHandle>
  /** Records of all runs, as far as they are durable. */
  runs(): AsyncIterable<RunRecord>
  /**
   * Runs for which all of these hold, newest first, page by page, read by an index: `find` of
   * {@link queries}.
   *
   * @example
   * const { items, next } = await tally.runs({ tag: 'customer:42', status: 'waiting', limit: 20 })
   */
  runs(filter: RunsFilter): Promise<Page<RunLine>>
  /** Open waits page by page, of one run or of all: `waits` of {@link queries}. */
  waits(filter?: WaitsFilter): Promise<Page<WaitLine>>
  /**
   * What a run has published last under a key (`ctx.publish(key, value)`), once it is on disk;
   * undefined: nothing. Rejects with `run.not_found`.
   */
  query(id: string, key: string): Promise<Json | undefined>
  /**
   * The queues, or the one of a name: how much of each has its turn, and what waits. What they hold
   * is declared in the options and with blocks and workflows.
   */
  queues(name?: string): Promise<readonly QueueLine[]>
  /** The state as it is on disk, from outside of runs. */
  readonly state: OutsideState
  /** The record of a run, as far as it is durable. */
  run(id: string): RunRecord | undefined
  journal(id: string): AsyncIterable<JournalEntry>
  /**
   * Lists page by page, newest first, and what stands behind one of their lines: what the local
   * console shows. Secrets of this process are taken out.
   *
   * @example
   * const { items, next } = await tally.queries.find({ status: 'waiting', limit: 20 })
   */
  readonly queries: Queries
  /**
   * The journal of a run, entry by entry from the first or behind the place `after`, then what
   * becomes durable, until the run has ended or `signal` aborts: none is left out and none comes
   * twice, in whatever process it is resumed. Rejects with `run.not_found`.
   *
   * @example
   * for await (const { place, entry } of tally.follow('order-17', { after: lastEventId })) {
   *   response.write(`id: ${place}\ndata: ${JSON.stringify(entry)}\n\n`)
   * }
   */
  follow(id: string, options?: FollowOptions): AsyncIterable<FollowedEntry>
  /**
   * Shows an observer of XState, such as `inspect` of `@statelyai/inspect`, every run that begins
   * or is resumed from now on: actors, events and snapshots of its charts from its first entry,
   * each once it is durable. They are made from the journal, and without payloads unless asked for.
   *
   * @example
   * const { inspect } = createWebSocketInspector()
   * tally.inspect(inspect)
   */
  inspect(observer: Inspector, options?: InspectionOptions): { unsubscribe(): void }
  /**
   * The same of one run, from its first entry to the last that is durable, as messages that
   * Stately's inspector takes. Throws `run.not_found`, `run.code_missing`,
   * `run.definition_changed`.
   */
  inspection(id: string, options?: InspectionOptions): AsyncIterable<InspectionMessage>
  receipts(range?: { readonly from?: number; readonly to?: number }): AsyncIterable<StoredReceipt>
  receipt(which: Hash | number): Promise<StoredReceipt | undefined>
  /** What is wrong or doubtful in a document; empty when it is fine. */
  lint(document: string | Json): Promise<readonly Diagnostic[]>
  /**
   * Asks the chains whether the transactions that a run has as confirmed still stand where it has
   * them. What is lost is reported here and as an event; the run stays as it is. Rejects with
   * `run.not_found`.
   */
  recheck(id: string, options?: RecheckOptions): Promise<readonly TransactionCheck[]>
  /**
   * Whether each open run can continue with what is registered, and why not: to be asked before a
   * deploy takes its place. Runs no code of blocks and changes nothing.
   */
  checkUpgrade(): Promise<readonly RunReadiness[]>
  /**
   * Checks everything: hashes, links, signatures, state, journals; and, unless `reexecute` is
   * false, does every run again with the registered code. Never throws for bad data (P1).
   */
  verify(options?: VerifyOptions): Promise<VerificationReport>
  /** {@link verify} with every unit executed twice and the executions compared (P2). */
  replay(options?: Omit<VerifyOptions, 'reexecute'>): Promise<VerificationReport>
  /** Does one receipt again, twice. Undefined when there is none. */
  replayReceipt(which: Hash | number): Promise<ReceiptReplay | undefined>
  /** State after receipt `upTo` (from 0): key to canonical JSON. */
  reconstructState(upTo: number): ReturnType<RuntimeAudit['reconstructState']>
  /**
   * Writes a snapshot, from which `importSnapshot` makes the same ledger elsewhere; work continues
   * meanwhile. Rejects with `snapshot.damaged`, `snapshot.unwritable`,
   * `ledger.corrupt`.
   */
  export(options: ExportOptions): Promise<ExportReport>
  /**
   * Moves history of ended runs into a signed file, and removes it from the ledger once the file
   * was read back and a receipt names it. Runs that are open, or go on later, stay; ids that were
   * used are refused for ever. Rejects with `archive.nothing`, `archive.unwritable`,
   * `ledger.safe_mode`.
   *
   * @example
   * await tally.archive({ path: 'archives/2026-06.archive.gz', before: '2026-07-01' })
   */
  archive(options: ArchiveOptions): Promise<ArchiveResult>
  /**
   * Destroys the key of a subject: what its runs have kept is read by nobody again, and the ledger
   * verifies as before, without it. With `dryRun` only says what would be erased, and what cannot
   * be. Nothing is kept under that name any more. Rejects with `ledger.not_erased` while a run of
   * the subject is open, `ledger.safe_mode`.
   *
   * @example
   * await tally.erase('customer-17')
   */
  erase(subject: string, options?: { readonly dryRun?: boolean }): Promise<ErasedSubject>
  /**
   * A signed note over everything committed so far: keep it elsewhere, it anchors the history.
   * Rejects with `ledger.safe_mode`: a ledger that is wrong is not endorsed.
   */
  note(): Promise<string>
  status(): RuntimeStatus
  /** Parks what is running and lets go of the ledger. */
  close(): Promise<void>
}

/** What a runtime is wired with, once its ledger is open. */
export interface WiredOptions {
  readonly clock: Clock
  readonly random: Random
  readonly durability: 'output' | 'step'
  /** What receipts name besides the code; by default, this runtime's. */
  readonly profile?: Json
  readonly network?: NetworkOptions
  readonly mode?: 'normal' | 'replay'
  readonly onQuarantine?: OnQuarantine
  /** Default: those of this program. For tests of what a later one does. */
  readonly versions?: Versions
  /** Where packages run; a sandbox of its own where absent. The runtime closes it. */
  readonly sandbox?: Sandbox
  /** Stands in for everything outside, in tests: no provider and no `perform` is called. */
  readonly outside?: NonNullable<PumpHost['outside']>
  readonly telemetry?: RunningTelemetry | undefined
  /** Hears the stages of intents; for tests and inspectors. */
  readonly onStage?: StageListener
}
