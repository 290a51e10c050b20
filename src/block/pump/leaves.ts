import { inputTooLarge, ROOT_PATH } from '../../code/index.js'
import { type Json, microtasksDone, nextTurn } from '../../core/index.js'
import type { AttemptCommand } from '../chart/protocol.js'
import { decide, keptEvent, rewoundDraft } from '../run/decide.js'
import type { Rewound, WaitBegun } from '../run/entries.js'
import { blockOf } from '../run/overlay-tasks.js'
import type { Past } from '../run/past.js'
import { WrittenPayloads } from '../run/payload-texts.js'
import { unitIdOf } from '../run/unit.js'
import { confirmationWait } from '../run/wait-drafts.js'
import { patchRefusal, type WaitMessage } from '../run/waits.js'
import { Attempt, type AttemptPort } from './attempt.js'
import { tellThrown } from './exceptions.js'
import type { EarlyCallRun } from './inline-run.js'
import type { OpenCalls } from './open-calls.js'
import type { PumpParts } from './parts.js'
import { type RecallPort, recallPortOf, replayRecordedResults } from './recall.js'

/**
 * Makes the attempts of one run's leaves and runs their code.
 *
 * Owns: the texts of payloads, attempts that are not started, and how many units of work are known
 * to be durable under durability `step`. Does not own: which attempts are open, which is the run's
 * state, what is decided about them, or what becomes of their calls.
 *
 * D2: with durability `step`, every unit of work is durable before the next step begins.
 */
export class Leaves {
  readonly #parts: PumpParts
  readonly #calls: OpenCalls
  readonly #recallPort: RecallPort
  readonly #early: EarlyCallRun | undefined
  readonly #texts: WrittenPayloads
  readonly #port: AttemptPort
  readonly #textOf = (payload: Json): string => this.#texts.of(payload)
  readonly #current = (key: string): string | undefined => this.#parts.host.journal.read(key)
  /** In the order in which they were made; some may be closed by now. */
  readonly #unstarted = new Set<Attempt>()
  #syncedUnits = 0

  constructor(parts: PumpParts, calls: OpenCalls, early: EarlyCallRun | undefined) {
    const { inbox, state, writer } = parts
    this.#parts = parts
    this.#calls = calls
    this.#recallPort = recallPortOf(parts)
    this.#early = early
    this.#texts = new WrittenPayloads(state.root.literals)
    this.#port = {
      called: (attempt, call) => {
        try {
          calls.take(attempt, call)
        } catch (error) {
          // What the ledger refuses ends the driving of the run: code that is told would go on.
          inbox.fail(error)
        }
      },
      settled: (attempt, outcome) => {
        if (!outcome.ok && outcome.thrown !== undefined) {
          tellThrown(parts, attempt, { thrown: outcome.thrown })
        }
        inbox.post({ kind: 'outcome', attempt, outcome })
      },
      returned: () => inbox.wake(),
      again: (attempt) => inbox.post({ kind: 'stale', attempt, reruns: attempt.reruns }),
      halted: (cause) => inbox.halt(cause),
      log: (attempt, message, data) => {
        if (attempt.isReplaying || !writer.isHeard) return
        const { runId } = state
        const { at, ask } = attempt
        writer.emit({ type: 'log', runId, at, path: ask.path, message, data: data() })
      }
    }
  }

  /** Canonical JSON of a payload. */
  textOf(payload: Json): string {
    return this.#texts.of(payload)
  }

  /** Takes over the canonical JSON of a payload that was written elsewhere. */
  keepText(payload: Json, text: string): void {
    this.#texts.keep(payload, text)
  }

  /** Whether something is under way that will come back by itself. */
  get isBusyOutside(): boolean {
    if (this.#calls.areQueued && !this.#parts.inbox.isStopping) return true
    return this.isPerforming
  }

  /** Whether that is something other than a turn that it waits for. */
  get isPerforming(): boolean {
    if (this.#calls.arePerformed) return true
    for (const attempt of this.#parts.state.attempts.awake()) if (attempt.isElsewhere) return true
    return false
  }

  /** Makes an attempt without running it; undefined when no such block is registered. */
  make(ask: AttemptCommand, at: number, earlier: Past | undefined): Attempt | undefined {
    const { host, state } = this.#parts
    const block = blockOf(ask, (name) => host.block(name))
    if (block === undefined) return undefined
    const unitId = unitIdOf(state.runId, ask.path, ask.step)
    const view = state.overlayAround(ask.path)?.view
    const attempt = new Attempt({
      runId: state.runId,
      ask,
      block,
      at,
      unitId,
      textOf: this.#textOf,
      base: state.base,
      principal: state.started?.principal ?? null,
      current: this.#current,
      seal: (seq, bodyText) => host.journal.seal(unitId, seq, bodyText).hash,
      below: view === undefined ? this.#current : (key) => view.read(key),
      earlier,
      early: this.#early,
      literals: state.root.literals
    })
    this.#unstarted.add(attempt)
    return attempt
  }

  /** Starts what is not running yet; a promise when something has to be awaited. */
  startAll(): Promise<void> | undefined {
    for (const attempt of this.#toStart()) {
      if (this.#hasToSync()) return this.#startRest(this.#sync())
      const starting = this.start(attempt)
      if (starting !== undefined) return this.#startRest(starting)
    }
    return undefined
  }

  async #startRest(first: Promise<void>): Promise<void> {
    await first
    for (const attempt of this.#toStart()) await this.start(attempt)
  }

  /** Open attempts that are not started: one of them may wait for its confirmation. */
  *#toStart(): Generator<Attempt> {
    const { attempts } = this.#parts.state
    for (const attempt of this.#unstarted) {
      if (attempt.isStarted || attempts.get(attempt.ask.path) !== attempt) {
        this.#unstarted.delete(attempt)
      } else yield attempt
    }
  }

  #hasToSync(): boolean {
    const { host, state } = this.#parts
    return host.durability === 'step' && state.receipts.size > this.#syncedUnits
  }

  #sync(): Promise<void> {
    const { state, writer } = this.#parts
    this.#syncedUnits = state.receipts.size
    return writer.durable()
  }

  /**
   * Runs the attempt's code, after its confirmation if the node asks for one. Gives a promise only
   * when there are recorded results to go through first: most steps have none, and promises are not
   * free.
   */
  start(attempt: Attempt): Promise<void> | undefined {
    if (attempt.needsJournal) return this.#startLong()
    return this.#begin(attempt) ? this.replay(attempt) : undefined
  }

  /** All that have long recorded results run at once: the journal is read through once for them. */
  #startLong(): Promise<void> {
    const attempts = [...this.#parts.state.attempts.values()]
    const long = attempts.filter(({ needsJournal }) => needsJournal)
    return this.#replay(long.filter((attempt) => this.#begin(attempt)))
  }

  /** Begins the code of an attempt; whether it is owed the answers of its recorded results. */
  #begin(attempt: Attempt): boolean {
    const { inbox, state, writer } = this.#parts
    if (attempt.isStarted || inbox.isStopping || inbox.isHeld) return false
    const outcome = inputTooLarge(attempt.payloadText())
    if (outcome !== undefined) {
      inbox.post({ kind: 'outcome', attempt, outcome })
      return false
    }
    const { path, step, attempt: number, options } = attempt.ask
    if (options.deadline !== undefined) {
      inbox.arm(deadlineKey(attempt), options.deadline, { kind: 'deadline', attempt })
    }
    if (!this.#isConfirmed(attempt)) return false
    writer.emit({
      type: 'block.started',
      runId: state.runId,
      at: attempt.at,
      path,
      step,
      attempt: number,
      block: attempt.block.name
    })
    // An overlay that was rebuilt knows nothing of what was listed through it (L10).
    if (state.overlayAround(path) !== undefined) attempt.listAgain()
    attempt.start(this.#port)
    return attempt.isReplaying
  }

  /** Whether the wait that its node asks for has been answered. */
  #isConfirmed(attempt: Attempt): boolean {
    const confirmation = attempt.confirmation()
    if (confirmation === undefined) return true
    if (attempt.past.answers > 0 && attempt.recorded.has(0)) return true
    if (attempt.waits.has(0)) return false
    const { given, state, writer, inbox } = this.#parts
    const kept = attempt.past.earlier?.kept({ seq: 0, requestHash: confirmation.requestHash })
    if (kept !== undefined) {
      // Recorded at once, as a wait is: a fact would be posted again by the next look.
      const fact = keptEvent(attempt, { ...kept.answer, body: kept.answer.body ?? null })
      for (const draft of decide(state, fact, given)) writer.record(draft)
      return true
    }
    writer.record(confirmationWait(state, attempt, confirmation, writer.now()))
    inbox.wake()
    return false
  }

  /** Why what a wait is for refuses a message's value; undefined: it takes all of it (W14). */
  refusal({ path, seq, request }: WaitBegun, message: WaitMessage): string | undefined {
    const { host, state } = this.#parts
    const { action, value = null } = message
    if (seq !== null) {
      const attempt = action === 'resume' ? state.attempts.get(path) : undefined
      const payload = attempt?.ask.request.payload ?? null
      return attempt?.block.refuses?.({ payload, question: request, value })
    }
    const ask = action === 'patch' ? state.decisions.get(path) : undefined
    const { request: failed, block: name, provider = null } = ask?.failed ?? {}
    if (ask === undefined || failed === undefined) return undefined
    const named = (one: string) => host.block(one)
    const block =
      name === undefined
        ? undefined
        : blockOf({ block: name, provider, sideEffects: 'non_idempotent' }, named)
    const { payload } = failed
    const past = state.pasts?.get(path)
    const told = past?.told()
    return patchRefusal(block, {
      payload,
      value,
      failure: ask.response,
      hasSent: past?.hasSent() ?? false,
      ...(told === undefined ? {} : { told })
    })
  }

  /**
   * Runs the code from its first line; what it has been given before comes from its recorded
   * results.
   */
  run(attempt: Attempt): Promise<void> | undefined {
    attempt.start(this.#port)
    return attempt.isReplaying ? this.replay(attempt) : undefined
  }

  /** Continues with the recorded results that an attempt is still owed. */
  async replay(attempt: Attempt): Promise<void> {
    if (attempt.isReplaying) await this.#replay([attempt])
  }

  async #replay(attempts: readonly Attempt[]): Promise<void> {
    const { writer } = this.#parts
    for (const { attempt, dropped } of await replayRecordedResults(attempts, this.#recallPort)) {
      if (dropped.length === 0) continue
      writer.record(rewoundDraft(attempt, dropped, writer.now()))
    }
  }

  /** The code does not ask for some results any more: what it asks instead is taken. */
  rewound(attempt: Attempt, { dropped }: Rewound): void {
    for (const call of attempt.dropped(dropped)) this.#calls.take(attempt, call)
  }

  /** Gives the code of a workflow function its next answer, and lets it run (B12, D3). */
  giveBody(): Promise<true> | undefined {
    const { state } = this.#parts
    if (state.root.isFunction !== true) return undefined
    const body = state.attempts.get(ROOT_PATH)
    return body?.isOwed === true ? this.#giveNext(body) : undefined
  }

  /** What code does by itself comes before what it is given, and what it does with that (D3). */
  async #giveNext(body: Attempt): Promise<true> {
    await microtasksDone()
    if (body.giveNext()) await nextTurn()
    return true
  }

  /** Lets go of an attempt that has ended. */
  close(attempt: Attempt): void {
    if (attempt.ask.options.deadline !== undefined) this.#parts.inbox.disarm(deadlineKey(attempt))
    this.#parts.host.gate.release(attempt)
    this.#calls.withdraw(attempt)
    attempt.abandon()
  }
}

// No path has a space: no other key is equal.
function deadlineKey(attempt: Attempt): string {
  return `deadline ${attempt.ask.path}`
}
