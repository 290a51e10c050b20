import type { OpenWait, Position, SignalOutcome } from '../../block/index.js'
import {
  blockError,
  canonicalizeLedgerValue,
  copyJson,
  type Json,
  type RunId,
  refusedError,
  type Timed
} from '../../core/index.js'
import type { StoredReceipt } from '../../ledger/index.js'
import type { WorkQueues } from '../../queue/index.js'
import type { Compiled, PreparedRun } from '../code/prepared-run.js'
import type { DeliveredEvent } from './channel.js'
import { isEnded } from './ended.js'
import { cancelWithoutCode, isOfCode } from './ending-runs.js'
import type { Answer, RunHandle, RunResult } from './handle.js'
import type { WrittenPicture } from './kept-picture.js'
import { type Command, messageOf, ownerNamed } from './messages.js'
import { RunDriver } from './run-driver.js'
import type { RunEntry, Settled } from './run-entry.js'
import { RunMessages } from './run-messages.js'
import { presentEvents } from './run-records.js'
import { RunStarter } from './run-starter.js'
import { RunStore } from './run-store.js'
import type { RunsOptions, StartTerms } from './run-terms.js'
import type { RunsWithoutCode } from './runs-without-code.js'
import type { SignalOptions } from './signal-options.js'
import type { StartedRun } from './start-options.js'

/**
 * The runs of one ledger in this process, for those who start, read, answer and end them.
 *
 * Owns: nothing but its parts. Does not own: what happened, which is in the ledger.
 *
 * L6 the same id is the same run ({@link RunStarter}).
 */
export class Runs {
  /** Messages to the runs. */
  readonly messages: RunMessages
  readonly #store: RunStore
  readonly #driver: RunDriver
  readonly #starter: RunStarter
  readonly #leaveClock: (() => void) | undefined

  constructor(options: RunsOptions) {
    this.#store = new RunStore(options)
    this.#driver = new RunDriver(this.#store)
    this.#starter = new RunStarter(this.#driver)
    this.messages = new RunMessages(this.#driver)
    this.#leaveClock = options.host.clock.attach?.(this)
  }

  /** Those that cannot be resumed here. */
  get withoutCode(): RunsWithoutCode {
    return this.#driver.withoutCode
  }

  /** Where runs and effects wait for their turn. */
  get queues(): WorkQueues {
    return this.#store.parts.host.queues
  }

  now(): number {
    return this.#store.parts.host.clock.now()
  }

  get liveCount(): number {
    return this.#store.liveCount
  }

  /** What the runs do now, besides waiting for time and people. */
  get busyWith(): Timed['busyWith'] {
    return this.#store.busyWith
  }

  /** Hands on news of a run that are no history; false when it has no readers. */
  tell(event: DeliveredEvent): boolean {
    return this.#store.tell(event)
  }

  /**
   * Starts a run, or attaches to the one that has this id, and resumes it if it was interrupted.
   * Throws for an id or for inputs that a journal cannot keep.
   */
  begin(runId: RunId, source: Promise<PreparedRun>, given: StartTerms): RunEntry {
    return this.#starter.begin(runId, source, given)
  }

  /**
   * {@link begin}, resolved once the start is durable. Rejects with what refuses the run, such as
   * `run.refused` and `run.id_reused`.
   */
  async start(runId: RunId, source: Promise<PreparedRun>, given: StartTerms): Promise<StartedRun> {
    const started = await this.startOrRefuse(runId, source, given)
    if ('refused' in started) throw refusedError(started.refused)
    return started
  }

  /** {@link start}, where a run that is refused is a result: it has to cross to another process. */
  async startOrRefuse(
    runId: RunId,
    source: Promise<PreparedRun>,
    given: StartTerms
  ): Promise<StartedRun | { readonly refused: RunResult }> {
    const begun = await this.begin(runId, source, given).begun
    if (begun.refused !== undefined) return { refused: begun.refused }
    await this.#store.parts.ledger.durable(begun.position)
    return { id: runId, isNew: begun.isNew }
  }

  /**
   * A single-step run: like {@link begin}, and done before this returns when nothing has to be
   * awaited.
   */
  beginSingleStep(runId: RunId, prepared: Compiled, given: StartTerms): RunEntry {
    return this.#starter.beginSingleStep(runId, prepared, given)
  }

  /** The entry of a run of the ledger: its result if it has ended, its waits otherwise. */
  attach(runId: RunId): Promise<RunEntry> {
    return this.#driver.attach(runId)
  }

  /** Resumes interrupted runs but those that rest; arms the due times of those that wait. */
  resumeAll(): Promise<readonly RunId[]> {
    return this.#driver.resumeAll()
  }

  /** Resumes one run; one that waits only looks whether something has fallen due. */
  async resume(runId: RunId): Promise<RunEntry> {
    this.#store.checkOpen()
    const entry = await this.attach(runId)
    const record = this.#store.parts.ledger.run(runId)
    if (record !== undefined && !isEnded(record)) await this.#driver.resume(entry)
    return entry
  }

  /** What a caller holds of a run. */
  handleOf(entry: RunEntry): RunHandle {
    const { runId } = entry
    const answer = (token: string, given: Answer, action: Command['action']) =>
      this.messages.message(runId, messageOf(token, given, action))
    return {
      id: runId,
      // Made when it is asked for: of a million parked runs, few have a caller that waits.
      get result() {
        return entry.result
      },
      waits: () => this.durableWaits(runId),
      approve: (token, given) => answer(token, given, 'approve'),
      deny: (token, given) => answer(token, given, 'deny'),
      resume: (token, { action = 'resume', ...given }) => answer(token, given, action),
      receipts: () => this.#receipts(runId),
      signal: (name, value = null, how = {}) => this.signal(runId, name, value, how),
      cancel: (reason = 'cancelled by the owner') =>
        this.cancel(runId, reason, ownerNamed(undefined)),
      [Symbol.asyncIterator]: () => this.read(entry)[Symbol.asyncIterator](),
      // Leaving the scope lets go of the handle only; the run continues.
      [Symbol.asyncDispose]: async () => undefined
    }
  }

  /** Stops a run that is quarantined, and its due time. */
  hold(runId: RunId): void {
    this.#store.get(runId)?.stop()
  }

  /** Arms the due time of a run that was released. */
  async free(runId: RunId): Promise<void> {
    const isThere = this.#store.parts.ledger.hasRun(runId)
    if (isThere) await this.#driver.attach(runId, { isShown: false })
  }

  /**
   * Ends a run, whatever has become of its code: by its code, or from its journal alone where that
   * is not here, cannot continue, or is not to (K10). Throws what lies in the ledger.
   */
  async cancel(runId: RunId, reason: string, by: Json): Promise<void> {
    canonicalizeLedgerValue([reason, by])
    const entry = await this.#driver.attach(runId, { isShown: false })
    entry.isEnding = true
    try {
      if (!this.#store.parts.quarantine.holds(runId)) {
        try {
          return await this.messages.cancel(runId, reason, by)
        } catch (error) {
          if (!isOfCode(error)) throw error
        }
      }
      await cancelWithoutCode(this.#store, entry, { reason, by })
    } finally {
      entry.isEnding = false
      const { heldBack } = entry
      entry.heldBack = undefined
      // The first one counts, and that is the end where there is one.
      if (heldBack !== undefined) this.#store.settle(entry, heldBack)
    }
  }

  async *#receipts(runId: RunId): AsyncGenerator<StoredReceipt> {
    const { receiptsOf } = await import('./run-receipts.js')
    yield* receiptsOf(this.#store.parts.ledger, runId)
  }

  /** Sends a run a signal; resolves once it is durable that the run has it. */
  async signal(
    runId: RunId,
    name: string,
    value: Json,
    { id = this.#store.parts.random.uuid(), by }: SignalOptions
  ): Promise<SignalOutcome> {
    const { sendSignal } = await import('./signals.js')
    return sendSignal(this.#driver, runId, { name, id, value, by: ownerNamed(by) })
  }

  /** What a message can end now, once it is durable (D2). */
  async durableWaits(runId: RunId): Promise<readonly OpenWait[]> {
    const waits = this.waits(runId)
    await this.#store.durable(runId)
    // Copies: a reader that changes what is shown changes nothing of what is answered.
    return copyJson(waits as unknown as Json) as unknown as readonly OpenWait[]
  }

  /** Tags that the code of a run has set, where a pump drives it. */
  liveTags(runId: RunId): { readonly tags: readonly string[] | undefined } | undefined {
    return this.#store.get(runId)?.live?.pump?.state
  }

  /** What a message can end now. */
  waits(runId: RunId): readonly OpenWait[] {
    return this.#store.waits(runId)
  }

  /** Adds a listener for every wait of a run that a message can end. */
  whenWaiting(runId: RunId, listener: (wait: OpenWait, position: Position) => void): void {
    this.#store.get(runId)?.whenWaiting(listener)
  }

  /** Reads the events of a run from now on; begins with what it waits for, or with its end. */
  read(entry: RunEntry): AsyncIterable<DeliveredEvent> {
    const { runId } = entry
    const status = { waits: this.waits(runId), isLive: this.isLive(runId) }
    const shown = presentEvents(runId, this.#store.parts.ledger.run(runId), status)
    return entry.read([...shown, ...this.withoutCode.present(runId)], this.#store.position(runId))
  }

  /** Reads the events of a run from now on, and nothing of how it stands. */
  readOn = (entry: RunEntry): AsyncIterable<DeliveredEvent> => entry.channel.read([])

  /** Whether the run is in memory or waits for its turn, and continues without being resumed. */
  isLive(runId: RunId): boolean {
    return this.isQueued(runId) || this.#store.get(runId)?.isMoving === true
  }

  /** Of the stretch that a run in memory is in; undefined: nothing in memory has it. */
  pictureOf(runId: RunId): WrittenPicture | undefined {
    return this.#store.get(runId)?.live?.moments?.picture
  }

  /** Whether the run waits for its turn in a queue. */
  isQueued(runId: RunId): boolean {
    return this.#driver.turns.waits(runId)
  }

  /** Parks what is running; resolves when everything is durable. */
  async close(): Promise<void> {
    this.#store.isClosing = true
    this.#store.parts.host.queues.close()
    await this.withoutCode.close()
    await this.#driver.park()
    this.#leaveClock?.()
    for (const entry of this.#store.entries()) {
      this.#store.settle(entry, interrupted(entry.runId))
    }
  }
}

/** Its error is made where somebody waits for the run: a ledger may have many that are parked. */
function interrupted(runId: RunId): Settled {
  return {
    get error() {
      return blockError('run.interrupted', { runId })
    }
  }
}
