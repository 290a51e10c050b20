import type { OpenWait, Position, PumpHost, RunEnd, RunPump } from '../block/index.js'
import { copyJson, type Json, type RunId, TallyError } from '../core/index.js'
import type { RunRecord } from '../ledger/index.js'
import { Beginnings, type Driven } from './beginnings.js'
import { type DeliveredEvent, EventChannel } from './channel.js'
import { isEnded, waitsOf } from './ended.js'
import { cancelAnyway } from './ending-runs.js'
import { type Compiled, Known, resultIn, type Settled, whenBegun } from './known.js'
import { LeftBehind } from './left-behind.js'
import { LoneEnds } from './lone-ends.js'
import { Mail } from './mail.js'
import { saveCheckpoint } from './parking.js'
import type { PreparedRun } from './prepared-run.js'
import { rebuildRun } from './rebuild.js'
import type { CompiledRoot } from './registry.js'
import { RestingRuns } from './resting-runs.js'
import type { RunsOptions, StartTerms } from './run-terms.js'
import { isKernelStep, presentEvents } from './standing.js'

/**
 * The runs of one ledger in this process: starting them, parking them, taking them up again.
 *
 * Owns: live pumps, their events and results. Does not own: what happened, which is in the ledger;
 * a parked run is only a record there, a small entry here, and a timer if it has a due time.
 *
 * L6 the same id is the same run ({@link Beginnings}).
 * W11 no run begins or goes on before providers know what earlier processes have left unfinished.
 */
export class Runs {
  readonly #options: RunsOptions
  /** Messages to the runs. */
  readonly mail: Mail
  /** Those that cannot be resumed here. */
  readonly resting: RestingRuns
  readonly #leftBehind: LeftBehind
  readonly #known = new Map<RunId, Known>()
  readonly #loneEnds: LoneEnds
  readonly #beginnings: Beginnings
  #live = 0
  #isClosing = false

  constructor(options: RunsOptions) {
    this.#options = options
    this.#leftBehind = new LeftBehind(options)
    this.resting = new RestingRuns(options)
    this.#loneEnds = new LoneEnds({
      ledger: options.ledger,
      settle: (runId, known, how) => {
        this.#let(known)
        this.#settle(runId, known, how)
      }
    })
    this.#beginnings = this.#beginning()
    this.mail = new Mail({
      ledger: options.ledger,
      pumpOf: (runId) => this.#pumpOf(runId),
      over: async (runId) => this.#known.get(runId)?.live?.over,
      durable: (runId) => options.ledger.durable(this.#told(runId)),
      failed: (runId, error) => {
        const known = this.#known.get(runId)
        if (known !== undefined) this.#settle(runId, known, { error })
      },
      waits: (runId) => this.waits(runId),
      liveRuns: () => this.#liveRuns(),
      document: (name) => options.registry.composite(name),
      isHeld: (runId) => options.quarantine.holds(runId)
    })
  }

  #beginning(): Beginnings {
    return new Beginnings({
      ...this.#options,
      leftBehind: this.#leftBehind,
      checkOpen: () => this.#checkOpen(),
      liveCount: () => this.#live,
      known: (runId) => this.#known.get(runId),
      know: (runId) => this.#know(runId),
      hostOf: (known) => this.#hostOf(known),
      attach: (runId) => this.attach(runId),
      takeUp: (runId, known) => this.#takeUp(runId, known),
      drive: (runId, known, driven) => this.#drive(runId, known, driven),
      ended: (runId, known, straight) => {
        known.live = this.#loneEnds.add(runId, known, straight)
        this.#live += 1
      },
      settle: (runId, known, how) => this.#settle(runId, known, how),
      intentPins: (action) => this.#options.registry.intentPins(action)
    })
  }

  /** Hands on news of a run that are no history; false when nobody hears of the run. */
  tell(event: DeliveredEvent): boolean {
    const known = this.#known.get(event.runId)
    known?.tell(event)
    return known?.isHeard === true
  }

  get liveCount(): number {
    return this.#live
  }

  /**
   * Starts a run, or attaches to the one that has this id, and takes it up if it was interrupted.
   * Throws for an id or for inputs that a journal cannot keep.
   */
  start(runId: RunId, source: Promise<PreparedRun>, given: StartTerms): Known {
    return this.#beginnings.start(runId, source, given)
  }

  /**
   * A lone intent: like {@link start}, and done before this returns when nothing has to be awaited.
   */
  startLone(runId: RunId, prepared: Compiled, given: StartTerms): Known {
    return this.#beginnings.startLone(runId, prepared, given)
  }

  /** Knows a run of the ledger again: its result if it has ended, its waits otherwise. */
  async attach(runId: RunId, how = { isShown: true }): Promise<Known> {
    const record = await this.#recordOf(runId)
    const known = this.#known.get(runId) ?? this.#know(runId)
    if (known.live !== undefined) return known
    const result = await resultIn(this.#options.ledger, record, how).catch((error: unknown) => {
      this.#settle(runId, known, { error })
      throw error
    })
    if (result !== undefined) this.#settle(runId, known, { result })
    else if (record.status === 'waiting') this.#armDue(runId, known, record)
    return known
  }

  /** The record of a run; one that begins has it soon. Throws `run.not_found`. */
  async #recordOf(runId: RunId): Promise<RunRecord> {
    const { ledger } = this.#options
    if (ledger.run(runId) === undefined) {
      await this.#known.get(runId)?.begun.catch(() => undefined)
    }
    const record = ledger.run(runId)
    if (record === undefined) throw new TallyError('run.not_found', { runId })
    return record
  }

  /** Takes up interrupted runs but those that rest; arms the due times of those that wait. */
  async resumeAll(): Promise<readonly RunId[]> {
    const resumed: RunId[] = []
    for await (const record of this.#options.ledger.runs()) {
      if (isEnded(record) || this.#options.quarantine.holds(record.runId)) continue
      const { runId } = record
      const known = await this.attach(runId, { isShown: false })
      if (record.status !== 'running') continue
      if (await this.resting.unlessResting(runId, this.#takeUp(runId, known))) resumed.push(runId)
    }
    return resumed
  }

  /** Takes up one run; one that waits only looks whether something has fallen due. */
  async resume(runId: RunId): Promise<Known> {
    this.#checkOpen()
    const known = await this.attach(runId)
    const record = this.#options.ledger.run(runId)
    if (record !== undefined && !isEnded(record)) await this.#takeUp(runId, known)
    return known
  }

  async #takeUp(runId: RunId, known: Known): Promise<void> {
    if (known.live !== undefined) return
    this.#options.quarantine.check(runId)
    known.resuming ??= this.#rebuild(runId, known).finally(() => {
      known.resuming = undefined
    })
    await known.resuming
  }

  async #rebuild(runId: RunId, known: Known): Promise<void> {
    known.callOffDue?.()
    known.callOffDue = undefined
    await this.#leftBehind.told()
    const host = this.#hostOf(known)
    const { pump, compiled, resume } = await this.resting.resuming(runId, known, () =>
      rebuildRun(runId, { ...this.#options, host })
    )
    this.#drive(runId, known, { pump, compiled, run: resume })
    const { at, position } = pump.book
    // The journal has these: the pump tells only of those that it opens.
    for (const wait of pump.openWaits()) {
      host.emit({ type: 'waiting', runId, at, ...wait }, position)
    }
  }

  #drive(runId: RunId, known: Known, { pump, compiled, run }: Driven): void {
    const over = (async () => {
      try {
        await this.#ended(runId, known, pump, compiled, await run())
      } catch (error) {
        this.#let(known)
        await this.#options.quarantine.failed(runId, error)
        this.#settle(runId, known, { error })
      }
    })()
    known.live = {
      pump,
      over,
      get position() {
        return pump.book.position
      }
    }
    this.#live += 1
  }

  /** Stops a run that is quarantined, and lets no due time take it up. */
  hold(runId: RunId): void {
    const known = this.#known.get(runId)
    known?.callOffDue?.()
    known?.live?.pump?.stop()
  }

  /** Arms the due time of a run that was released. */
  async free(runId: RunId): Promise<void> {
    const isThere = this.#options.ledger.run(runId) !== undefined
    if (isThere) await this.attach(runId, { isShown: false })
  }

  /** Ends a run, whatever has become of its code (K10). */
  cancel(runId: RunId, reason: string, by: Json): Promise<void> {
    const port = {
      ...this.#options,
      runs: this,
      hostOf: (known: Known) => this.#hostOf(known),
      settle: (known: Known, how: Settled) => this.#settle(runId, known, how)
    }
    return cancelAnyway(runId, { reason, by }, port)
  }

  async #ended(
    runId: RunId,
    known: Known,
    pump: RunPump,
    compiled: CompiledRoot,
    end: RunEnd
  ): Promise<void> {
    const { ledger } = this.#options
    const { position } = pump.book
    if (end.kind === 'finished') {
      ledger.saveCheckpoint(runId, null, position)
      this.#let(known)
      const { status, response, receiptHash, dappId } = end
      const hash = receiptHash === undefined ? {} : { receiptHash }
      const by = dappId === undefined ? {} : { dappId }
      this.#settle(runId, known, { result: { id: runId, status, response, ...hash, ...by } })
      return
    }
    saveCheckpoint(ledger, end, { runId, pump, compiled })
    // Whoever takes it up again reads the journal, so the journal must have it all.
    await ledger.durable(position)
    const goesOn = end.kind === 'parked' && (await this.mail.earlier.looked(runId))
    this.#let(known)
    // What it was told meanwhile takes it up again.
    if (goesOn && !this.#isClosing) return
    const held = this.#options.quarantine.refusal(runId)
    if (held !== undefined) this.#settle(runId, known, { error: held })
    else if (end.kind === 'parked') {
      const { waits, due } = end
      known.emit({ type: 'run.parked', runId, at: pump.book.at, waits, due }, position)
      this.#setDue(runId, known, due)
    } else this.#settle(runId, known, { error: new TallyError('run.interrupted', { runId }) })
  }

  /** The run is in memory no more. */
  #let(known: Known): void {
    if (known.live === undefined) return
    known.live = undefined
    this.#live -= 1
  }

  #armDue(runId: RunId, known: Known, record: RunRecord): void {
    const { due } = record.last as { readonly due?: number | null }
    if (known.live === undefined && known.callOffDue === undefined)
      this.#setDue(runId, known, due ?? null)
  }

  #setDue(runId: RunId, known: Known, due: number | null): void {
    known.callOffDue?.()
    known.callOffDue = undefined
    if (due === null || this.#isClosing || this.#options.quarantine.holds(runId)) return
    known.callOffDue = this.#options.host.clock.schedule(due, () => {
      this.#takeUp(runId, known).catch((error: unknown) => this.#settle(runId, known, { error }))
    })
  }

  /** The run's pump, taken up if it is parked; undefined once it has ended. */
  async #pumpOf(runId: RunId): Promise<RunPump | undefined> {
    this.#checkOpen()
    const known = await this.attach(runId, { isShown: false })
    const record = this.#options.ledger.run(runId)
    if (record === undefined || isEnded(record)) return undefined
    if (known.live === undefined) await this.#takeUp(runId, known)
    return known.live?.pump
  }

  /** What a message can end now, told once it is durable (D2). */
  async durableWaits(runId: RunId): Promise<readonly OpenWait[]> {
    const waits = this.waits(runId)
    await this.#options.ledger.durable(this.#told(runId))
    // Copies: a reader that changes what is shown changes nothing of what is answered.
    return copyJson(waits as unknown as Json) as unknown as readonly OpenWait[]
  }

  /** Up to where the ledger must be durable before anybody may hear how a run stands. */
  #told(runId: RunId): Position {
    return this.#known.get(runId)?.live?.position ?? 0
  }

  /** What a message can end now. */
  waits(runId: RunId): readonly OpenWait[] {
    const live = this.#known.get(runId)?.live
    if (live !== undefined) return live.pump?.openWaits() ?? []
    return waitsOf(this.#options.ledger.run(runId))
  }

  *#liveRuns(): Generator<RunId> {
    for (const [runId, { live }] of this.#known) if (live !== undefined) yield runId
  }

  /** Has a listener told of every wait of a run that a message can end. */
  whenWaiting(runId: RunId, listener: NonNullable<Known['onWait']>): void {
    this.#known.get(runId)?.whenWaiting(listener)
  }

  /** Reads the events of a run from now on; begins with what it waits for, or with its end. */
  read(runId: RunId, known: Known): AsyncIterable<DeliveredEvent> {
    const standing = { waits: this.waits(runId), isLive: this.isLive(runId) }
    const shown = presentEvents(runId, this.#options.ledger.run(runId), standing)
    const events = known.channel.read([...shown, ...this.resting.present(runId)], this.#told(runId))
    return known.live === undefined ? whenBegun(known, events) : events
  }

  /** Reads the events of a run from now on, and nothing of how it stands. */
  readOn = (known: Known): AsyncIterable<DeliveredEvent> => known.channel.read([])

  /** Whether the run is in memory, and goes on without being taken up. */
  isLive(runId: RunId): boolean {
    const known = this.#known.get(runId)
    return known?.live !== undefined || known?.resuming !== undefined
  }

  /** Parks what is running; resolves when everything is durable. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.resting.close()
    const over: Promise<void>[] = []
    for (const known of this.#known.values()) {
      known.callOffDue?.()
      if (known.resuming !== undefined) await known.resuming.catch(() => undefined)
      if (known.live === undefined) continue
      known.live.pump?.stop()
      over.push(known.live.over)
    }
    await Promise.all(over)
    for (const [runId, known] of this.#known) {
      this.#settle(runId, known, { error: new TallyError('run.interrupted', { runId }) })
    }
  }

  #hostOf(known: Known): PumpHost {
    const emit: PumpHost['emit'] = (event, position) => {
      if (event.type === 'waiting') {
        known.onWait?.(event, position)
        this.mail.earlier.opened(event.runId, event)
      }
      if (isKernelStep(event)) this.#options.onKernelWork?.(position)
      known.emit(event, position)
    }
    return { emit, ...this.#options.host }
  }

  #know(runId: RunId): Known {
    const { events, ledger } = this.#options
    const hasListener = events.listenerCount('event') > 0
    const known = new Known(() => {
      const emit = (event: DeliveredEvent) => events.emit('event', event)
      const listener = hasListener ? emit : undefined
      return new EventChannel({ durable: (position) => ledger.durable(position), listener })
    }, hasListener)
    this.#known.set(runId, known)
    return known
  }

  #settle(runId: RunId, known: Known, how: Settled): void {
    known.settle(how)
    if (this.#known.get(runId) === known) this.#known.delete(runId)
    this.#options.registry.rooms.disposeRun(runId)
  }

  #checkOpen(): void {
    if (this.#isClosing) throw new TallyError('runtime.closed', {})
    // What begins now would have to wait for what may never be committed.
    if (this.#options.ledger.state().mode === 'restoring') {
      throw new TallyError('ledger.restoring', { problem: 'a snapshot takes its place' })
    }
  }
}
