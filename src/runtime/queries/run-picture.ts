import {
  type FoldObserver,
  type JournalEntry,
  type MadeBlock,
  RunReplay,
  type RunReplayOptions,
  type WaitingSignal
} from '../../block/index.js'
import { type Hash, limits } from '../../core/index.js'
import type { RunStatus } from '../../ledger/index.js'
import { type ActorAt, actorAt, ShownActors } from '../run/shown-actors.js'
import type { ChartAt } from './picture-types.js'

/** An entry of a journal, as it is read. */
export interface PictureEntry {
  readonly entry: JournalEntry
  readonly text: string
  readonly receiptHash?: Hash | undefined
}

type Changed = Parameters<FoldObserver['changed']>
type Received = Parameters<FoldObserver['received']>

/** How far what an entry led to is kept. */
interface Moment {
  readonly at: number
  readonly status: RunStatus
  /** Actors that the entry has changed. */
  readonly changed: readonly ActorAt[]
}

/**
 * The charts of one run after each of its entries: the journal goes once through the pure fold
 * that verification uses, and what each entry changes is kept.
 *
 * Owns: where the charts stand after the last entry taken, what each entry before has changed, and
 * all actors as they were at every 256th. Does not own: the journal, and whether it is right.
 *
 * - Q1 A moment that was taken costs 256 small changes at most, however long the run is.
 */
export class RunPicture implements FoldObserver {
  readonly #options: Omit<RunReplayOptions, 'observer' | 'isPicture'>
  #replay: RunReplay | undefined
  /** The first entry whose moment is kept. */
  first = 0
  #moments: Moment[] = []
  /** All actors at the first moment, and at each 256th after it. */
  #whole: (readonly ActorAt[])[] = []
  readonly #shown = new ShownActors()
  #status: RunStatus = 'running'

  constructor(options: Omit<RunReplayOptions, 'observer' | 'isPicture'>) {
    this.#options = options
  }

  /** Entries that were taken. */
  get entries(): number {
    return this.first + this.#moments.length
  }

  /** Entries whose moments are kept. */
  get kept(): number {
    return this.#moments.length
  }

  /** Signals that no unit of work has taken for good, after the last entry that was taken. */
  get waitingSignals(): readonly WaitingSignal[] {
    return this.#replay?.waitingSignals ?? []
  }

  /** Takes the next entry of the journal. */
  take({ entry, text, receiptHash }: PictureEntry): void {
    // Its root is made, and shown, at the first entry.
    this.#replay ??= new RunReplay({ ...this.#options, observer: this, isPicture: true })
    this.#replay.take(entry, text, { receiptHash, item: entry.n })
    if ('status' in entry) this.#status = entry.status
    this.#shown.took(entry)
    const changed: ActorAt[] = []
    this.#shown.takeChanged(entry.n, { add: (_, actor) => changed.push(actorAt(actor)) })
    if (this.#moments.length % ENTRIES_BETWEEN === 0) {
      this.#whole.push(this.#shown.all().map(actorAt))
    }
    this.#moments.push({ at: entry.at, status: this.#status, changed })
    if (this.#moments.length === limits.PICTURE_ENTRIES_MAX) this.#forgetHalf()
  }

  /** How the run stood after an entry that was taken; undefined: none was. */
  at(entry: number): ChartAt | undefined {
    const place = entry - this.first
    const moment = this.#moments[place]
    if (moment === undefined) return undefined
    const from = Math.floor(place / ENTRIES_BETWEEN)
    const actors = new Map((this.#whole[from] ?? []).map((actor) => [actor.path, actor]))
    for (const { changed } of this.#moments.slice(from * ENTRIES_BETWEEN + 1, place + 1)) {
      for (const actor of changed) actors.set(actor.path, actor)
    }
    return { entry, at: moment.at, actors: [...actors.values()], status: moment.status }
  }

  #forgetHalf(): void {
    const half = Math.floor(this.#whole.length / 2)
    this.#whole = this.#whole.slice(half)
    this.#moments = this.#moments.slice(half * ENTRIES_BETWEEN)
    this.first += half * ENTRIES_BETWEEN
  }

  made({ path, state }: MadeBlock): void {
    this.#shown.made(path, state.value)
  }

  received(...[path, event]: Received): void {
    this.#shown.received(path, event)
  }

  changed(...[path, state]: Changed): void {
    this.#shown.moved(path, state)
  }
}

const ENTRIES_BETWEEN = limits.PICTURE_ENTRIES_BETWEEN
