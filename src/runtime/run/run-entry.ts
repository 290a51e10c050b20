import type { OpenWait, Position, RunPump } from '../../block/index.js'
import type { RunId, Timed } from '../../core/index.js'
import { type DeliveredEvent, EventChannel } from './channel.js'
import type { RunResult } from './handle.js'
import type { RunMoments } from './run-moments.js'
import type { RunsOptions } from './run-terms.js'

/** A run in memory: a pump drives it, or it has come to its end and that is not durable yet. */
export interface LiveRun {
  /** Undefined when nothing drives it any more. */
  readonly pump: RunPump | undefined
  /** Up to where the ledger must be durable before it may be shown how the run stands (D2). */
  readonly position: Position
  /** Where its charts stood lately; undefined: that is not kept. */
  readonly moments?: RunMoments | undefined
  /** Resolves when it has left memory. */
  readonly over: Promise<void>
}

/**
 * How a run has begun: `isNew` when no run had its id, and up to where the ledger must be durable
 * for its start to outlive this process; or its result when it cannot begin and nothing of it is
 * recorded.
 */
export type Beginning =
  | { readonly isNew: boolean; readonly position: Position; readonly refused?: never }
  | { readonly refused: RunResult }

type WaitListener = (wait: OpenWait, position: Position) => void

/** How a run came to its result, or why it has none. */
export type Settled = { readonly result: RunResult } | { readonly error: unknown }

/** Waits of a run that earlier answers may fit, on their way (W3). */
export interface EarlierWaits {
  /** Those that were not looked at. */
  readonly waits: OpenWait[]
  looking: Promise<void>
  /** Messages that the run has not decided about. */
  underWay: number
}

/**
 * All that this process knows of one run: its events and its result, whether it is live or parked.
 *
 * Owns: the channel and the promise, both made on first use: most intents need neither. Does not
 * own: what happened, which is in the ledger.
 */
export class RunEntry {
  readonly runId: RunId
  /** Settles once the run has begun, or is found to be the one that has this id. */
  begun: Promise<Beginning> = alreadyBegun
  /** It is read, compiled or looked up before a pump drives it. */
  isBeginning = false
  live: LiveRun | undefined
  /** Resuming it is under way. */
  resuming: Promise<void> | undefined
  callOffDue: (() => void) | undefined
  /** Its time has come, and it is about to be resumed. */
  isDue = false
  /** It is being cancelled: what its code fails with is held back, since that ends it otherwise. */
  isEnding = false
  heldBack: Settled | undefined
  earlier: EarlierWaits | undefined
  readonly #outbox: Outbox
  #waitListeners: WaitListener[] | undefined
  readonly #hasListener: boolean
  /** The entry of the same run that has the channel. */
  #first: RunEntry | undefined
  #channel: EventChannel | undefined
  #result: PromiseWithResolvers | undefined
  #settled: Settled | undefined

  constructor(runId: RunId, outbox: Outbox) {
    this.runId = runId
    this.#outbox = outbox
    this.#hasListener = outbox.events.listenerCount('event') > 0
  }

  get channel(): EventChannel {
    if (this.#first !== undefined) return this.#first.channel
    if (this.#channel === undefined) {
      const { ledger, events, host } = this.#outbox
      const emit = (event: DeliveredEvent) => events.emit('event', event)
      const listener = this.#hasListener ? emit : undefined
      this.#channel = new EventChannel({
        durable: (position) => ledger.durable(position),
        redactor: host.redactor,
        listener
      })
      if (this.#settled !== undefined) this.#channel.close()
    }
    return this.#channel
  }

  /** Whether it has come to its end already, which is shown once it is durable. */
  get hasEnded(): boolean {
    return this.live !== undefined && this.live.pump === undefined
  }

  /** Whether its events are read or listened to. */
  get isHeard(): boolean {
    return this.#hasListener || this.#channel !== undefined
  }

  /** Whether it moves by itself, without being resumed. */
  get isMoving(): boolean {
    return this.live !== undefined || this.resuming !== undefined || this.isDue
  }

  /** What moves it now, besides time and people; undefined while it waits for those. */
  get busyWith(): Timed['busyWith'] {
    if (this.isBeginning || this.isDue || this.resuming !== undefined) return 'itself'
    if (this.live === undefined) return undefined
    const { pump } = this.live
    if (pump?.inbox.isAwaited !== true) return 'itself'
    return pump.leaves.isPerforming ? 'effects' : undefined
  }

  get result(): Promise<RunResult> {
    if (this.#result === undefined) {
      this.#result = resolvers()
      if (this.#settled !== undefined) settleWith(this.#result, this.#settled)
    }
    return this.#result.promise
  }

  /** The same run for a second caller, whose result may be that it is refused. */
  again(begun: Promise<Beginning>, promise: Promise<RunResult>): RunEntry {
    const entry = new RunEntry(this.runId, this.#outbox)
    entry.#first = this
    entry.begun = begun
    entry.#result = { promise, resolve: ignore, reject: ignore }
    return entry
  }

  /**
   * Adds a listener for every wait that a message can end; it is given what must be durable before
   * the wait is shown.
   */
  whenWaiting(listener: WaitListener): void {
    this.#waitListeners ??= []
    this.#waitListeners.push(listener)
  }

  /** Tells its listeners of a wait. */
  waiting(wait: OpenWait, position: Position): void {
    for (const listener of this.#waitListeners ?? []) listener(wait, position)
  }

  /**
   * Sets what calls off its due time, or its turn once that has come. A method: V8 makes a closure
   * that is assigned to a member as it is written in old space, where it holds all that it leads to
   * until the next full collection.
   */
  setDue(callOff: () => void): void {
    this.callOffDue = callOff
  }

  /** Hands an event on once it is durable; as a rule it has no readers. */
  emit(event: DeliveredEvent, position: Position): void {
    if (this.isHeard) this.channel.emit(event, position)
  }

  /** Hands on news that are no history. */
  tell(event: DeliveredEvent): void {
    if (this.isHeard) this.channel.tell(event)
  }

  /** Reads its events from now on, after `present`, durable up to `position`. */
  read(present: readonly DeliveredEvent[], position: Position): AsyncIterable<DeliveredEvent> {
    const events = this.channel.read(present, position)
    return this.live === undefined ? this.#whenBegun(events) : events
  }

  /** How a run in the ledger stands is shown once it was looked at. */
  async *#whenBegun(events: AsyncGenerator<DeliveredEvent>): AsyncGenerator<DeliveredEvent> {
    const first = events.next()
    first.catch(() => undefined)
    try {
      await this.begun
      for (let next = await first; next.done !== true; next = await events.next()) yield next.value
    } finally {
      void events.return(undefined)
    }
  }

  /** Takes its due time back, and stops what drives it. */
  stop(): void {
    this.callOffDue?.()
    this.live?.pump?.stop()
  }

  /** The first one counts. */
  settle(how: Settled): void {
    this.#settled ??= how
    if (this.#result !== undefined) settleWith(this.#result, how)
    this.#channel?.close()
  }
}

type Outbox = Pick<RunsOptions, 'ledger' | 'events' | 'host'>

const alreadyBegun: Promise<Beginning> = Promise.resolve({ isNew: false, position: 0 })

interface PromiseWithResolvers {
  readonly promise: Promise<RunResult>
  resolve(result: RunResult): void
  reject(error: unknown): void
}

const ignore = (): void => undefined

function settleWith({ resolve, reject }: PromiseWithResolvers, how: Settled): void {
  if ('result' in how) resolve(how.result)
  else reject(how.error)
}

function resolvers(): PromiseWithResolvers {
  let resolve: (result: RunResult) => void = ignore
  let reject: (error: unknown) => void = ignore
  const promise = new Promise<RunResult>((yes, no) => {
    resolve = yes
    reject = no
  })
  // A result that is not asked for must not end the process.
  promise.catch(ignore)
  return { promise, resolve, reject }
}
