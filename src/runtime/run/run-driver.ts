import type { Position, PumpHost, RunEnd, RunPump } from '../../block/index.js'
import { blockError, limits, type RunId } from '../../core/index.js'
import type { RunRecord } from '../../ledger/index.js'
import { DueRuns } from './due-runs.js'
import { isEnded } from './ended.js'
import { isOfCode } from './ending-runs.js'
import { OrphanedEffects } from './orphaned-effects.js'
import { type Driven, rebuildRun, saveCheckpoint } from './parked-run.js'
import type { LiveRun, RunEntry } from './run-entry.js'
import type { RunMoments } from './run-moments.js'
import { resultIn } from './run-records.js'
import type { RunStore } from './run-store.js'
import { RunTurns } from './run-turns.js'
import { RunsWithoutCode } from './runs-without-code.js'

/**
 * What moves runs: pumps, due times, and resuming from the ledger.
 *
 * Owns: nothing of a run; its entry has it. A parked run is only a record in the ledger, a small
 * entry, and a timer if it has a due time.
 *
 * W11 no run continues before providers know what earlier processes have left unfinished.
 */
export class RunDriver {
  readonly store: RunStore
  /** Those that cannot be resumed here. */
  readonly withoutCode: RunsWithoutCode
  readonly orphanedEffects: OrphanedEffects
  readonly turns: RunTurns
  readonly #due = new DueRuns()

  constructor(store: RunStore) {
    this.store = store
    this.turns = new RunTurns(store.parts.host.queues, (runId) => this.#admitted(runId))
    store.whenSettled((runId) => this.turns.leave(runId))
    this.withoutCode = new RunsWithoutCode(store.parts)
    this.orphanedEffects = new OrphanedEffects(store.parts)
  }

  /** The entry of a run of the ledger: its result if it has ended, its due time otherwise. */
  async attach(runId: RunId, how = { isShown: true }): Promise<RunEntry> {
    return this.#attach(await this.store.record(runId), how)
  }

  async #attach(record: RunRecord, how: { readonly isShown: boolean }): Promise<RunEntry> {
    const { store } = this
    const { runId } = record
    const entry = store.get(runId) ?? store.add(runId)
    if (entry.live !== undefined) return entry
    const result = await resultIn(store.parts.ledger, record, how).catch((error: unknown) => {
      store.settle(entry, { error })
      throw error
    })
    if (result !== undefined) store.settle(entry, { result })
    else if (record.status === 'waiting' && isParked(entry)) {
      const { due = null } = record.last as { readonly due?: number | null }
      if (entry.callOffDue === undefined) this.#setDue(entry, due)
    }
    return entry
  }

  /** Resumes interrupted runs but those that rest; arms the due times of those that wait. */
  async resumeAll(): Promise<readonly RunId[]> {
    const { queues } = this.store.parts.host
    // What has begun has its turn before anything new, and the others in the order of their ages.
    queues.hold()
    try {
      return await this.#resumeAll()
    } finally {
      queues.open()
    }
  }

  async #resumeAll(): Promise<readonly RunId[]> {
    const { ledger, quarantine } = this.store.parts
    const resumed: RunId[] = []
    for (const record of ledger.openRuns()) {
      const { runId, status } = record
      // Reading each once more would take as long as all else that is done here.
      this.withoutCode.seen(record)
      // Without the key of its subject it rests.
      if (record.isErased || quarantine.holds(runId)) continue
      const entry = await this.#attach(record, { isShown: false })
      if (await this.turns.found(ledger, record)) continue
      if (status !== 'running') continue
      if (await this.withoutCode.unlessItRests(runId, this.resume(entry))) resumed.push(runId)
    }
    return resumed
  }

  /**
   * Resumes a run that is not in memory. One that waits for its turn stays where it is, unless it
   * has a message to take: then it takes that, and does nothing else.
   */
  async resume(entry: RunEntry, { hasMessage = false } = {}): Promise<void> {
    if (entry.live !== undefined) return
    const { ledger, quarantine } = this.store.parts
    quarantine.check(entry.runId)
    const record = ledger.run(entry.runId)
    const waits = record !== undefined && (await this.turns.found(ledger, record))
    if ((waits && !hasMessage) || entry.live !== undefined) return
    entry.resuming ??= this.#rebuild(entry).finally(() => {
      entry.resuming = undefined
    })
    await entry.resuming
  }

  async #rebuild(entry: RunEntry): Promise<void> {
    const { store, withoutCode: resting } = this
    const { runId } = entry
    this.#setDue(entry, null)
    await this.orphanedEffects.announced()
    const hostOf = (block: PumpHost['block']) => store.hostOf(entry, block)
    const parts = { ...store.parts, hostOf }
    const driven = await resting.resuming(entry, () => rebuildRun(runId, parts))
    const { pump } = driven
    if (this.turns.waits(runId)) pump.inbox.hold({ isExpecting: true })
    this.drive(entry, driven)
    const { at, position } = pump.writer
    // The journal has these: the pump emits only those that it opens.
    for (const wait of pump.openWaits()) {
      pump.host.emit({ type: 'waiting', runId, at, ...wait }, position)
    }
  }

  /** Has a pump drive a run. */
  drive(entry: RunEntry, driven: Driven): void {
    const { store } = this
    const { pump } = driven
    const over = (async () => {
      try {
        await this.#ended(entry, driven, await driven.run())
      } catch (error) {
        // Who resumes it reads the journal from the disk, and would number its entries anew.
        await store.parts.ledger.durable(pump.writer.position).catch(() => undefined)
        store.leave(entry)
        await store.parts.quarantine.failed(entry.runId, error)
        if (entry.isEnding && isOfCode(error)) entry.heldBack = { error }
        else store.settle(entry, { error })
      }
    })()
    store.enter(entry, new DrivenRun(pump, over, driven.moments))
  }

  /** The run's pump, resumed if it is parked; undefined once it has ended. */
  async pumpOf(runId: RunId): Promise<RunPump | undefined> {
    const { store } = this
    store.checkOpen()
    const entry = await this.attach(runId, { isShown: false })
    const record = store.parts.ledger.run(runId)
    if (record === undefined || isEnded(record)) return undefined
    await this.resume(entry, { hasMessage: true })
    return entry.live?.pump
  }

  /**
   * Asks the pump of a run, also where the run parks or resumes meanwhile; `ended` says what to
   * answer for one that has ended.
   */
  async followed<Outcome extends { readonly accepted: boolean; readonly reason?: string }>(
    runId: RunId,
    by: { ask(pump: RunPump): Promise<Outcome>; ended(): Promise<Outcome> }
  ): Promise<Outcome> {
    for (let follow = 0; ; follow += 1) {
      const pump = await this.pumpOf(runId)
      if (pump === undefined) return by.ended()
      const outcome = await by.ask(pump)
      const isOver = outcome.accepted || outcome.reason !== 'run_moved'
      if (isOver || follow >= limits.MESSAGE_FOLLOWS_MAX) return outcome
      await this.store.get(runId)?.live?.over
    }
  }

  /** Parks what is running; resolves when it is durable and all have left memory. */
  async park(): Promise<void> {
    const over: Promise<void>[] = []
    for (const entry of this.store.entries()) {
      entry.callOffDue?.()
      await entry.resuming?.catch(() => undefined)
      if (entry.live === undefined) continue
      entry.live.pump?.stop()
      over.push(entry.live.over)
    }
    await Promise.all(over)
  }

  async #ended(entry: RunEntry, driven: Driven, end: RunEnd): Promise<void> {
    const { store } = this
    const { ledger, quarantine } = store.parts
    const { runId } = entry
    const { writer: book } = driven.pump
    const { position } = book
    if (end.kind === 'finished') {
      ledger.saveCheckpoint(runId, null, position)
      driven.moments?.leave(position)
      store.leave(entry)
      const { status, response, receiptHash, dappId } = end
      const hash = receiptHash === undefined ? {} : { receiptHash }
      const by = dappId === undefined ? {} : { dappId }
      store.settle(entry, { result: { id: runId, status, response, ...hash, ...by } })
      return
    }
    if (end.kind === 'held') {
      await ledger.durable(position)
      store.leave(entry)
      // Its turn may have come meanwhile.
      if (!this.turns.waits(runId) && !store.isClosing) await this.resume(entry)
      return
    }
    saveCheckpoint(ledger, runId, end, driven)
    driven.moments?.leave(position)
    // A resumed run is read from the journal, so the journal must have it all.
    await ledger.durable(position)
    const isParked = end.kind === 'parked'
    if (isParked) await entry.earlier?.looking
    store.leave(entry)
    // An earlier answer that is on its way resumes it.
    if (isParked && (entry.earlier?.underWay ?? 0) > 0 && !store.isClosing) return
    entry.earlier = undefined
    const held = quarantine.refusal(runId)
    if (held !== undefined) store.settle(entry, { error: held })
    else if (isParked) {
      const { waits, due } = end
      entry.emit({ type: 'run.parked', runId, at: book.at, waits, due }, position)
      this.#setDue(entry, due)
    } else store.settle(entry, { error: end.cause ?? blockError('run.interrupted', { runId }) })
  }

  /** The turn of a run has come. */
  #admitted(runId: RunId): void {
    const { store } = this
    const entry = store.get(runId)
    if (entry === undefined || store.isClosing) return
    const pump = entry.live?.pump
    if (pump !== undefined) return pump.inbox.letGo()
    const resuming = this.withoutCode.unlessItRests(runId, this.resume(entry))
    resuming.then(
      (isMoving) => isMoving || this.turns.leave(runId),
      (error: unknown) => store.settle(entry, { error })
    )
  }

  async #fallenDue(entry: RunEntry): Promise<void> {
    const { store } = this
    try {
      const record = store.parts.ledger.run(entry.runId)
      // It may have ended since this was armed.
      const isOver = record !== undefined && isEnded(record)
      if (isOver || store.isClosing) return
      await this.resume(entry)
      entry.isDue = false
      // The next one begins when this one has done what it could.
      await entry.live?.pump?.inbox.rested()
    } catch (error) {
      store.settle(entry, { error })
    } finally {
      entry.isDue = false
    }
  }

  #setDue(entry: RunEntry, due: number | null): void {
    const { store } = this
    const { host, quarantine } = store.parts
    entry.callOffDue?.()
    entry.callOffDue = undefined
    if (due === null || store.isClosing || quarantine.holds(entry.runId)) return
    const callOff = host.clock.schedule(due, () => {
      entry.isDue = true
      const forget = this.#due.add(() => this.#fallenDue(entry))
      entry.setDue(() => {
        entry.isDue = false
        forget()
      })
    })
    entry.setDue(callOff)
  }
}

// A class: an object with a getter of its own is made in old space, and holds its pump there.
/** A run that its pump drives. */
class DrivenRun implements LiveRun {
  readonly pump: RunPump
  readonly over: Promise<void>
  readonly moments: RunMoments | undefined

  constructor(pump: RunPump, over: Promise<void>, moments: RunMoments | undefined) {
    this.pump = pump
    this.over = over
    this.moments = moments
  }

  get position(): Position {
    return this.pump.writer.position
  }
}

/** Whether nothing drives a run, and nothing is about to. */
function isParked({ live, resuming }: RunEntry): boolean {
  return live === undefined && resuming === undefined
}
