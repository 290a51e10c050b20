import type { Json, JsonObject } from '../../core/index.js'
import type { SealedReference } from '../journal.js'
import type { AttemptAsk } from '../protocol.js'
import type { EffectRequest } from '../run/calls.js'
import type { JournalEntry, Place, Requested, Rewound, Sealed, WaitBegun } from '../run/entries.js'
import { referenceTo } from '../run/folded-answers.js'
import { type Past, restorePast } from '../run/past.js'
import { unitIdOf } from '../run/unit-ids.js'
import { WrittenPayloads } from '../run/written-payloads.js'
import { blockOf } from '../task-blocks.js'
import { Attempt, type AttemptPort } from './attempt.js'
import { Calling } from './calling.js'
import { DeclaredOrder } from './declared-order.js'
import type { LeavesPort } from './leaves-port.js'
import { replayTapes } from './replaying.js'
import { keptFact, placeOf } from './replies.js'

/**
 * The attempts of one run's leaves: what they ask for and what becomes of it.
 *
 * Owns: attempts in progress, and effects being performed. Does not own: the journal, delivery
 * order and settling, which are the pump's. Everything that comes back from outside is posted as a
 * fact.
 */
export class Leaves {
  readonly #port: LeavesPort
  readonly #calling: Calling
  readonly #current = new Map<string, Attempt>()
  /** What the failed attempt before the next one of the same step left behind, by path. */
  #past: Map<string, Past> | undefined
  /** Times of attempts that a checkpoint has: they are asked for again, and stay what they are. */
  #restoredTimes: Map<string, number> | undefined
  #deadlines: Set<Attempt> | undefined
  /** Ends that wait for their turn. */
  readonly order = new DeclaredOrder()
  /** Write-class results of attempts that did not succeed: they happened all the same. */
  readonly landed: SealedReference[] = []
  /** Write-class effects that were sent and never answered: nobody knows whether they happened. */
  readonly inDoubt: JsonObject[] = []
  readonly #texts: WrittenPayloads
  readonly #attemptPort: AttemptPort

  constructor(port: LeavesPort) {
    this.#port = port
    this.#calling = new Calling(port)
    this.#texts = new WrittenPayloads(port.literals)
    this.#attemptPort = {
      called: (attempt, call) => this.#calling.called(attempt, call),
      settled: (attempt, outcome) => port.post({ kind: 'outcome', attempt, outcome }),
      returned: () => port.wake(),
      again: (attempt) => port.post({ kind: 'stale', attempt, reruns: attempt.reruns }),
      log: (attempt, message, data) => {
        if (attempt.isReplaying) return
        const { path } = attempt.ask
        port.emit({ type: 'log', runId: port.runId, at: attempt.at, path, message, data })
      }
    }
  }

  /** Canonical JSON of a payload. */
  readonly textOf = (payload: Json): string => this.#texts.of(payload)

  /** Takes over the canonical JSON of a payload that was written elsewhere. */
  keepText(payload: Json, text: string): void {
    this.#texts.keep(payload, text)
  }

  /** Effects sent and not yet answered. */
  get performing(): number {
    return this.#calling.performing
  }

  /** Whether some code waits for work that is no call. */
  get isElsewhere(): boolean {
    for (const attempt of this.#current.values()) if (attempt.isElsewhere) return true
    return false
  }

  at(path: string): Attempt | undefined {
    return this.#current.get(path)
  }

  all(): IterableIterator<Attempt> {
    return this.#current.values()
  }

  /** Journal entries that attempts in progress, or the next ones, still need. */
  openEntries(): {
    readonly current: readonly JournalEntry[]
    readonly past: readonly (Sealed | Requested)[]
  } {
    const attempts = [...this.#current.values()]
    return {
      // In the order of the tape: a listing that was asked for again stays in its place.
      current: attempts.flatMap(({ past, waits }) => [
        ...past.requested.values(),
        ...past.tape.whole(),
        ...waits.values()
      ]),
      past: [
        ...attempts.flatMap(({ past }) => past.earlier?.entries() ?? []),
        ...[...(this.#past?.values() ?? [])].flatMap((past) => past.entries())
      ]
    }
  }

  /** Whether every answer is in memory as it was sealed: only then a checkpoint has them all. */
  get isWhole(): boolean {
    const pasts = [...this.#current.values()].map(({ past }) => past)
    return [...pasts, ...(this.#past?.values() ?? [])].every(({ isWhole }) => isWhole)
  }

  /** Answers that the code of attempts in progress would be given if it ran again. */
  get answers(): number {
    let answers = 0
    for (const { past } of this.#current.values()) answers += past.answers
    return answers
  }

  /** Frozen times of attempts in progress, by place (K7). */
  times(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#current.values()].map(({ ask, at }) => [nameOf(ask), at]))
  }

  /**
   * Takes over, from a checkpoint, what earlier attempts have left behind, and the present times.
   */
  restore(
    entries: readonly (Sealed | Requested)[],
    times: Readonly<Record<string, number>> = {}
  ): void {
    this.#restoredTimes = new Map(Object.entries(times))
    for (const path of new Set(entries.map((entry) => entry.path))) {
      const past = restorePast(entries.filter((entry) => entry.path === path))
      if (past !== undefined) this.#keepPast(path, past)
    }
  }

  #keepPast(path: string, past: Past): void {
    this.#past ??= new Map()
    this.#past.set(path, past)
  }

  /** Takes up an attempt without running it; false when no such block is registered. */
  open(ask: AttemptAsk): boolean {
    const { host, book, runId, literals } = this.#port
    const block = blockOf(ask, (name) => host.block(name))
    if (block === undefined) return false
    const unitId = unitIdOf(runId, ask.path, ask.step)
    const scope = this.#port.scopeOf(ask.path)
    const earlier = this.#past?.get(ask.path)
    this.#past?.delete(ask.path)
    const attempt = new Attempt({
      runId,
      ask,
      block,
      at: ask.options.frozenAt ?? this.#restoredTimes?.get(nameOf(ask)) ?? book.at,
      unitId,
      textOf: this.textOf,
      base: this.#port.base(),
      principal: this.#port.principal(),
      current: (key) => host.journal.read(key),
      seal: (seq, bodyText) => host.journal.seal(unitId, seq, bodyText).hash,
      below: scope === undefined ? (key) => host.journal.read(key) : (key) => scope.view.read(key),
      earlier: earlier?.step === ask.step ? earlier : undefined,
      early: this.#port.early,
      ...(literals === undefined ? {} : { literals })
    })
    this.#restoredTimes?.delete(nameOf(ask))
    this.#current.set(ask.path, attempt)
    this.order.opened(attempt)
    return true
  }

  /**
   * Runs the attempt's code, after its confirmation if the node asks for one. Gives a promise only
   * when there is a tape to go through first: most steps have none, and promises are not free.
   */
  start(attempt: Attempt): Promise<void> | undefined {
    if (attempt.needsJournal) return this.#startLong()
    return this.#begin(attempt) ? this.replay(attempt) : undefined
  }

  /** All that have long tapes run at once: the journal is read through once for them. */
  #startLong(): Promise<void> {
    const long = [...this.#current.values()].filter(({ needsJournal }) => needsJournal)
    return this.#replay(long.filter((attempt) => this.#begin(attempt)))
  }

  /** Begins the code of an attempt; whether it is owed the answers of its tape. */
  #begin(attempt: Attempt): boolean {
    if (attempt.isStarted || this.#port.isStopping()) return false
    this.#armDeadline(attempt)
    if (!this.#isConfirmed(attempt)) return false
    const { ask } = attempt
    this.#port.emit({
      type: 'block.started',
      runId: this.#port.runId,
      at: attempt.at,
      path: ask.path,
      step: ask.step,
      attempt: ask.attempt,
      block: attempt.block.name
    })
    // An overlay that was rebuilt knows nothing of what was listed through it (L10).
    if (this.#port.scopeOf(ask.path) !== undefined) attempt.listAgain()
    attempt.start(this.#attemptPort)
    return attempt.isReplaying
  }

  /** Runs the code from its first line; what it has been given before comes from its tape. */
  run(attempt: Attempt): Promise<void> | undefined {
    attempt.start(this.#attemptPort)
    return attempt.isReplaying ? this.replay(attempt) : undefined
  }

  /** Goes on with the tape of an attempt that is still owed some of it. */
  async replay(attempt: Attempt): Promise<void> {
    if (attempt.isReplaying) await this.#replay([attempt])
  }

  async #replay(attempts: readonly Attempt[]): Promise<void> {
    for (const { attempt, dropped } of await replayTapes(attempts, this.#port)) {
      if (dropped.length === 0) continue
      this.#port.record({ k: 'rewound', at: this.#port.book.now(), ...placeOf(attempt), dropped })
    }
  }

  /** Applies what the code does not ask for any more; returns the waits that are over with it. */
  rewound({ path, dropped }: Rewound): readonly WaitBegun[] {
    const attempt = this.#current.get(path)
    if (attempt === undefined) return []
    const over = [...attempt.waits.values()].filter(({ seq }) => dropped.includes(seq ?? 0))
    for (const { seq } of over) attempt.waits.delete(seq ?? 0)
    for (const call of attempt.drop(dropped)) this.#calling.called(attempt, call)
    return over
  }

  /** Sends an effect again, because a person has said so; see {@link Calling.send}. */
  send(attempt: Attempt, call: EffectRequest, isOrdered: boolean): void {
    this.#calling.send(attempt, call, isOrdered)
  }

  /** Write-class results of the attempt that failed last at a path. */
  landedAt(path: string): readonly SealedReference[] {
    const past = this.#past?.get(path)
    return past === undefined
      ? []
      : past
          .written()
          .filter(({ ok }) => ok)
          .map(referenceTo)
  }

  /** Ends an attempt: `settled` false when its response still has to be delivered by the caller. */
  close(attempt: Attempt, succeeded: boolean): void {
    const { path } = attempt.ask
    if (this.#current.get(path) === attempt) this.#current.delete(path)
    this.order.closed(attempt)
    if (succeeded) this.#resolveDoubts(attempt)
    else {
      this.#keepPast(path, attempt.past)
      const wrote = attempt.past.requested
      this.landed.push(...attempt.past.written().map(referenceTo))
      for (const { seq, effect, key } of wrote.values()) {
        if (attempt.tape.has(seq)) continue
        this.inDoubt.push({ path, effect, key })
      }
    }
    if (this.#deadlines?.delete(attempt) === true) this.#port.disarm(deadlineKey(attempt))
    this.#port.host.gate.release(attempt)
    attempt.abandon()
  }

  // A later attempt of the step found out what had become of its effects.
  #resolveDoubts(attempt: Attempt): void {
    if (this.inDoubt.length === 0) return
    const keys = new Set([...attempt.past.requested.values()].map(({ key }) => key as Json))
    const open = this.inDoubt.filter(({ key }) => key !== undefined && !keys.has(key))
    this.inDoubt.splice(0, this.inDoubt.length, ...open)
  }

  /** Drops everything at and below a path: it was cancelled. */
  cancel(path: string): void {
    for (const attempt of [...this.#current.values()]) {
      const at = attempt.ask.path
      if (at === path || at.startsWith(`${path}/`)) this.close(attempt, false)
    }
  }

  #isConfirmed(attempt: Attempt): boolean {
    const confirmation = attempt.confirmation()
    if (confirmation === undefined) return true
    if (attempt.past.answers > 0 && attempt.tape.has(0)) return true
    if (attempt.waits.has(0)) return false
    const kept = attempt.past.earlier?.kept({ seq: 0, requestHash: confirmation.requestHash })
    if (kept !== undefined) {
      this.#port.post(keptFact(attempt, { ...kept.answer, body: kept.answer.body ?? null }))
      return false
    }
    this.#port.openWait({
      place: placeOf(attempt),
      seq: 0,
      reason: 'confirmation',
      request: confirmation.request,
      requestHash: confirmation.requestHash,
      actions: ['approve', 'deny'],
      due: attempt.ask.options.deadline ?? null,
      blockHash: attempt.block.codeHash
    })
    return false
  }

  #armDeadline(attempt: Attempt): void {
    const { deadline } = attempt.ask.options
    if (deadline === undefined || this.#deadlines?.has(attempt) === true) return
    this.#deadlines ??= new Set()
    this.#deadlines.add(attempt)
    this.#port.arm(deadlineKey(attempt), deadline, { kind: 'deadline', attempt })
  }
}

// No path has a space: it is nobody else's key.
function deadlineKey(attempt: Attempt): string {
  return `deadline ${attempt.ask.path}`
}

/** One attempt at one place of its run. */
function nameOf({ path, step, attempt }: Place): string {
  return `${path} ${step} ${attempt}`
}
