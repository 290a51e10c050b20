import type { MessageOutcome, SignalOutcome } from '../block/index.js'
import type { IdentityId, Json } from '../core/index.js'
import type { IntentReply } from '../intent/index.js'
import type {
  Answer,
  AnswerAction,
  ErasedSubject,
  FollowedEntry,
  FollowOptions,
  IntentRequest,
  OutsideState,
  Queries,
  QueueLine,
  RunFilter,
  RunLine,
  RunResult,
  RunView,
  ServiceRequests,
  ServiceStatus,
  SignalOptions,
  StartedRun,
  StartOptions,
  VerifyOptions
} from '../runtime/index.js'

/** Where the process is to which a client connects. */
export interface ConnectOptions {
  /** Directory of the ledger that another process has open. */
  readonly location: string
  /**
   * Which identity of the location is asked, by id or name, where that process has opened it for
   * many (`openLocation`). Default: the one that it has open, or its main one.
   */
  readonly identity?: string
  /**
   * How long is waited for a process that holds the ledger and answers: by `connect`, and by every
   * call whose owner is restarted meanwhile. Milliseconds, default `limits.CLIENT_WAIT_MS`.
   */
  readonly waitMs?: number
  /** Ends the wait of `connect`. */
  readonly signal?: AbortSignal
}

/** Options of one call of a client. */
export interface CallOptions {
  /** Ends the wait for the answer, not what the owner has begun. */
  readonly signal?: AbortSignal
}

/** As of the runtime; what a program alone can read stays with the owner. */
export interface ClientStartOptions extends Omit<StartOptions, 'protocols' | 'trace'>, CallOptions {
  /** A W3C `traceparent`. */
  readonly trace?: string
}

/** How to answer a wait: what is done, and the digest of what was shown (W7). */
export interface ClientAnswer extends Answer, CallOptions {
  readonly action: AnswerAction
}

/**
 * A ledger that another process of this user holds, asked through its owner socket. Calls mean what
 * they mean in the owner's process, and reject with the same errors.
 *
 * When the owner goes away, calls wait for the next one and ask it again: starts, intents and
 * answers have ids, which are chosen here where they are not given, so that nothing is done twice.
 * Calls reject with `owner.absent` when no owner comes in time, and with `owner.client_closed`.
 *
 * @example
 * await using tally = await connect({ location: './ledger' })
 * const { id } = await tally.start(order, { id: 'order-17', inputs: { item: 'lamp' } })
 * const { status } = await tally.result(id)
 */
export interface Client extends AsyncDisposable {
  readonly identity: IdentityId
  /** As `start` of the runtime: resolves once the start of the run is on disk in its owner. */
  start(document: string | Json, options?: ClientStartOptions): Promise<StartedRun>
  /**
   * {@link start} of a workflow in code that the owner has registered, by `name` or `name@version`.
   */
  startWorkflow(name: string, options?: ClientStartOptions): Promise<StartedRun>
  /** Waits for the end of a run. Rejects with `run.not_found`, `run.interrupted`. */
  result(id: string, options?: CallOptions): Promise<RunResult>
  /**
   * As `signal` of the runtime: resolves once the run has it on disk, or with the reason why it is
   * not taken.
   */
  signal(
    id: string,
    name: string,
    value?: Json,
    options?: SignalOptions & CallOptions
  ): Promise<SignalOutcome>
  /**
   * As `follow` of the runtime: the journal of a run, then what becomes durable, none left out and
   * none twice, also when its owner is restarted meanwhile. Ends with the run, and with its signal.
   */
  follow(id: string, options?: FollowOptions): AsyncIterable<FollowedEntry>
  /** Answers a wait of a run; the outcome says whether it was accepted. */
  answer(id: string, token: string, answer: ClientAnswer): Promise<MessageOutcome>
  /** Ends a run; resolves when it has ended. Rejects with `run.not_found`. */
  cancel(id: string, options?: CallOptions & { readonly reason?: string }): Promise<RunView>
  /** Has an action done. Resolves with its result, or with what it waits for. */
  intent(request: IntentRequest, options?: CallOptions): Promise<IntentReply>
  /**
   * As `erase` of the runtime: destroys the key of a subject, durably, and says what was erased,
   * and what was not. Rejects with `ledger.not_erased`, as while a run of the subject is open.
   */
  erase(
    subject: string,
    options?: CallOptions & { readonly dryRun?: boolean }
  ): Promise<ErasedSubject>
  /** How a run stands, with its waits. Rejects with `run.not_found`. */
  run(id: string, options?: CallOptions): Promise<RunView>
  /** Runs, newest first; read by pages, so that a list of any length costs little at once. */
  runs(filter?: RunFilter & CallOptions): AsyncIterable<RunLine>
  /** As of the runtime: what a run has published last under a key; undefined: nothing. */
  query(id: string, key: string, options?: CallOptions): Promise<Json | undefined>
  /** The state as it is on disk, as of the runtime. */
  readonly state: OutsideState
  /** The queues, or the one of a name: as of the runtime. */
  queues(name?: string): Promise<readonly QueueLine[]>
  /** Lists page by page, pictures of runs, state, and the feed: as of the runtime. */
  readonly queries: Queries
  /** As of the runtime. */
  verify(options?: VerifyOptions & CallOptions): Promise<ServiceRequests['verify']['result']>
  /** How the ledger stands and which process holds it. */
  status(options?: CallOptions): Promise<ServiceStatus>
  /** Ends the connection and every call under way; the owner continues. */
  close(): Promise<void>
}
