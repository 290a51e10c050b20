import type { OpenWait, Position, RunEvent } from '../../block/index.js'
import {
  copyJson,
  type Hash,
  type Json,
  limits,
  type Redactor,
  type RunId,
  writtenLength
} from '../../core/index.js'

/** An event as it is handed out, or news about the run's being told of. */
export type DeliveredEvent =
  | RunEvent
  /** Nothing can move before a message comes or `due`, milliseconds on the run's clock, passes. */
  | {
      readonly type: 'run.parked'
      readonly runId: RunId
      readonly at: number
      readonly waits: readonly OpenWait[]
      readonly due: number | null
    }
  /** It cannot be resumed here: code that it needs is not registered (B10). */
  | {
      readonly type: 'run.resting'
      readonly runId: RunId
      readonly at: number
      readonly why: string
    }
  /**
   * Text of an agent as it arrives; it is no history, and a reader that connects late misses it
   * (A5).
   */
  | {
      readonly type: 'agent.delta'
      readonly runId: RunId
      readonly nodeId: string
      readonly agentId: string
      readonly invocationId: string
      readonly kind: 'text' | 'reasoning' | 'tool'
      readonly text: string
    }
  /**
   * Something of the run came out otherwise when it was executed again: it performs nothing until
   * its owner releases it (K10). `receipt` null: what differs is in its journal.
   */
  | {
      readonly type: 'run.quarantined'
      readonly runId: RunId
      readonly at: number
      readonly receipt: Hash | null
      readonly provider: string | null
      readonly field: string
    }
  /** The reader was too slow for some. */
  | { readonly type: 'events.dropped'; readonly runId: RunId; readonly count: number }

interface Reader {
  readonly queue: DeliveredEvent[]
  /** Number of the first event that it is given: earlier ones are in what it got first. */
  readonly since: number
  /** Waits that it has got and that are not answered, as far as it knows. */
  readonly waits: OpenTokens
  dropped: number
  wake: (() => void) | undefined
}

/**
 * Keeps a reader from getting the same wait twice: a run that is resumed reports every wait
 * that is open, for those who read only now.
 */
class OpenTokens {
  #tokens: Set<string> | undefined

  /** Whether this event reports a wait that was reported before. */
  repeats(event: DeliveredEvent): boolean {
    if (event.type === 'answered') this.#tokens?.delete(event.token)
    if (event.type !== 'waiting') return false
    if (this.#tokens?.has(event.token) === true) return true
    this.#tokens ??= new Set()
    this.#tokens.add(event.token)
    return false
  }
}

/**
 * Hands the events of one run to its readers, each only once what it tells is durable (D2).
 *
 * Owns: the events on their way. Does not own: the run. Without readers nothing is kept and nothing
 * waits for the disk.
 *
 * - B3 Every reader gets once each wait.
 * - K16 No event holds a secret that the runtime knows.
 */
export class EventChannel {
  readonly #durable: (position: Position) => Promise<void>
  readonly #redactor: Redactor
  readonly #readers = new Set<Reader>()
  readonly #listener: ((event: DeliveredEvent) => void) | undefined
  readonly #toldListener = new OpenTokens()
  #pending: {
    readonly event: DeliveredEvent
    readonly position: Position
    readonly order: number
  }[] = []
  #emitted = 0
  #isDraining = false
  #isClosed = false

  constructor(options: {
    readonly durable: (position: Position) => Promise<void>
    readonly redactor: Redactor
    /** Called for every event besides the readers; undefined without a listener. */
    readonly listener: ((event: DeliveredEvent) => void) | undefined
  }) {
    this.#durable = options.durable
    this.#redactor = options.redactor
    this.#listener = options.listener
  }

  get #isHeard(): boolean {
    return this.#readers.size > 0 || this.#listener !== undefined
  }

  emit(event: DeliveredEvent, position: Position): void {
    if (!this.#isHeard) return
    this.#pending.push({ event, position, order: this.#emitted })
    this.#emitted += 1
    if (!this.#isDraining) void this.#drain()
  }

  /** Hands out news that are no history: what led to them is durable, so they wait for nothing. */
  tell(event: DeliveredEvent): void {
    if (!this.#isHeard) return
    this.#hand(this.#clean(event), this.#emitted)
  }

  /** Ends every reader after what is on its way. */
  close(): void {
    this.#isClosed = true
    if (!this.#isDraining) this.#wakeAll()
  }

  /**
   * Reads from now on. `first` comes before everything else, once `position` is durable. Ends when
   * the channel is closed.
   */
  async *read(
    first: readonly DeliveredEvent[],
    position: Position = 0
  ): AsyncGenerator<DeliveredEvent> {
    const reader: Reader = {
      queue: [],
      since: this.#emitted,
      waits: new OpenTokens(),
      dropped: 0,
      wake: undefined
    }
    for (const event of first) reader.waits.repeats(event)
    this.#readers.add(reader)
    try {
      // A poisoned ledger tells nothing any more, whatever it was asked for.
      if (first.length > 0) await this.#durable(position)
      for (const event of first) yield copyOf(await this.#cleanInTurns(event))
      for (;;) {
        const event = reader.queue.shift()
        if (event !== undefined) {
          yield event
          continue
        }
        if (this.#isClosed && !this.#isDraining) return
        await new Promise<void>((resolve) => {
          reader.wake = resolve
        })
        reader.wake = undefined
      }
    } finally {
      this.#readers.delete(reader)
    }
  }

  async #drain(): Promise<void> {
    this.#isDraining = true
    try {
      while (this.#pending.length > 0) {
        const batch = this.#pending
        this.#pending = []
        const last = batch.at(-1)
        if (last !== undefined) await this.#durable(last.position)
        for (const { event, order } of batch) {
          const isLong = !this.#redactor.isEmpty && writtenLength(event) > CLEAN_AT_ONCE_LENGTH
          this.#hand(isLong ? await this.#cleanInTurns(event) : this.#clean(event), order)
        }
      }
    } catch {
      // The ledger is poisoned: nothing that was on its way may be reported; the run's promises
      // reject.
      this.#pending = []
    } finally {
      this.#isDraining = false
      this.#wakeAll()
    }
  }

  #clean(event: DeliveredEvent): DeliveredEvent {
    return asEvent(this.#redactor.json(asJson(event)))
  }

  /** Gives the event loop its turn while a long response is searched. */
  async #cleanInTurns(event: DeliveredEvent): Promise<DeliveredEvent> {
    return asEvent(await this.#redactor.inTurns('json', asJson(event)))
  }

  #hand(event: DeliveredEvent, order: number): void {
    // Copies: a reader that changes what it gets changes neither the run nor another reader.
    if (this.#listener !== undefined && !this.#toldListener.repeats(event)) {
      this.#listener(copyOf(event))
    }
    for (const reader of this.#readers) {
      if (order < reader.since || reader.waits.repeats(event)) continue
      if (reader.queue.length >= limits.EVENTS_BUFFERED_MAX) {
        reader.dropped += 1
        continue
      }
      if (reader.dropped > 0) {
        reader.queue.push({ type: 'events.dropped', runId: event.runId, count: reader.dropped })
        reader.dropped = 0
      }
      reader.queue.push(copyOf(event))
      reader.wake?.()
    }
  }

  #wakeAll(): void {
    for (const reader of this.#readers) reader.wake?.()
  }
}

/** About the length of an event that is searched for secrets at once. */
const CLEAN_AT_ONCE_LENGTH = 64 * 1024

// Events are plain JSON; their types only lack the index signature.
function asJson(event: DeliveredEvent): Json {
  return event as unknown as Json
}

function asEvent(value: Json): DeliveredEvent {
  return value as unknown as DeliveredEvent
}

function copyOf(event: DeliveredEvent): DeliveredEvent {
  return asEvent(copyJson(asJson(event)))
}
