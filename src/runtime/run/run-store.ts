import type { OpenWait, Position, PumpHost, RunEvent } from '../../block/index.js'
import {
  blockError,
  ledgerError,
  limits,
  type RunId,
  runtimeError,
  type Timed
} from '../../core/index.js'
import type { RunRecord } from '../../ledger/index.js'
import type { DeliveredEvent } from './channel.js'
import { waitsOf } from './ended.js'
import { type LiveRun, RunEntry, type Settled } from './run-entry.js'
import { isKernelStep } from './run-records.js'
import type { RunsOptions } from './run-terms.js'

/**
 * The runs that this process knows, by id, and what they share.
 *
 * Owns: their entries, and how many are in memory, which is bounded. Does not own: what drives
 * them.
 */
export class RunStore {
  readonly parts: RunsOptions
  isClosing = false
  readonly #entries = new Map<RunId, RunEntry>()
  #live = 0
  #onWait: ((entry: RunEntry, wait: OpenWait) => void) | undefined
  #onSettle: ((runId: RunId) => void) | undefined

  constructor(parts: RunsOptions) {
    this.parts = parts
  }

  get liveCount(): number {
    return this.#live
  }

  /** What its runs do now, besides waiting for time and people. */
  get busyWith(): Timed['busyWith'] {
    let found: Timed['busyWith']
    for (const { busyWith } of this.#entries.values()) {
      if (busyWith === 'itself') return busyWith
      found ??= busyWith
    }
    return found
  }

  // Methods for the reason of RunEntry.setDue.
  /** Sets what hears of every wait that opens, or is found open when its run is resumed. */
  whenWaiting(listener: (entry: RunEntry, wait: OpenWait) => void): void {
    this.#onWait = listener
  }

  /** Sets what hears of every run that has its result, or is given up by this process. */
  whenSettled(listener: (runId: RunId) => void): void {
    this.#onSettle = listener
  }

  get(runId: RunId): RunEntry | undefined {
    return this.#entries.get(runId)
  }

  /** Makes the entry of a run that has none. */
  add(runId: RunId): RunEntry {
    const entry = new RunEntry(runId, this.parts)
    this.#entries.set(runId, entry)
    return entry
  }

  entries(): IterableIterator<RunEntry> {
    return this.#entries.values()
  }

  /** The record of a run; one that begins has it soon. Throws `run.not_found`. */
  async record(runId: RunId): Promise<RunRecord> {
    const { ledger } = this.parts
    if (!ledger.hasRun(runId)) await this.get(runId)?.begun.catch(() => undefined)
    const record = ledger.run(runId)
    if (record === undefined) throw blockError('run.not_found', { runId })
    return record
  }

  /** What a message can end now. */
  waits(runId: RunId): readonly OpenWait[] {
    const live = this.get(runId)?.live
    if (live !== undefined) return live.pump?.openWaits() ?? []
    return waitsOf(this.parts.ledger.run(runId))
  }

  /** Up to where the ledger must be durable before it may be shown how a run stands. */
  position(runId: RunId): Position {
    return this.get(runId)?.live?.position ?? 0
  }

  /** Resolves when all that a run was given is durable: then its journal has it. */
  durable(runId: RunId): Promise<void> {
    return this.parts.ledger.durable(this.position(runId))
  }

  /** Throws `runtime.closed`, `ledger.restoring`. */
  checkOpen(): void {
    if (this.isClosing) throw runtimeError('runtime.closed', {})
    // What begins now would have to wait for what may never be committed.
    if (this.parts.ledger.mode === 'restoring') {
      throw ledgerError('ledger.restoring', { problem: 'a snapshot takes its place' })
    }
  }

  /** Throws `runtime.too_many_runs`. */
  checkRoom(): void {
    if (this.#live < limits.RUNS_LIVE_MAX) return
    throw runtimeError('runtime.too_many_runs', { limit: limits.RUNS_LIVE_MAX })
  }

  /** The run is in memory now. */
  enter(entry: RunEntry, live: LiveRun): void {
    entry.live = live
    this.#live += 1
  }

  /** The run is in memory no more. */
  leave(entry: RunEntry): void {
    if (entry.live === undefined) return
    entry.live = undefined
    this.#live -= 1
  }

  /** Gives a run its result, or why it has none, and forgets it. */
  settle(entry: RunEntry, how: Settled): void {
    const { runId } = entry
    entry.settle(how)
    if (this.get(runId) === entry) this.#entries.delete(runId)
    this.#onSettle?.(runId)
    this.parts.registry.rooms.disposeRun(runId)
  }

  /** Hands on news of a run that are no history; false when it has no readers. */
  tell(event: DeliveredEvent): boolean {
    const entry = this.get(event.runId)
    entry?.tell(event)
    return entry?.isHeard === true
  }

  /** What the pump of a run acts through; `block` says where the run's names lead. */
  hostOf(entry: RunEntry, block = this.parts.host.block): PumpHost {
    const observer = this.observerOf(entry.runId)
    const isHeard = () => entry.isHeard
    return { ...this.parts.host, emit: this.emitOf(entry), isHeard, block, observer }
  }

  /** What sees a run, if anything does. */
  observerOf(runId: RunId): PumpHost['observer'] {
    return this.parts.host.telemetry?.run(runId)
  }

  /** What hears of the events of a run. */
  emitOf(entry: RunEntry): PumpHost['emit'] {
    return (event, position) => this.#emit(entry, event, position)
  }

  #emit(entry: RunEntry, event: RunEvent, position: Position): void {
    if (event.type === 'waiting') {
      entry.waiting(event, position)
      this.#onWait?.(entry, event)
    } else if (event.type === 'block.settled' && isKernelStep(event)) {
      this.parts.onIntentWork?.(position)
    }
    entry.emit(event, position)
  }
}
