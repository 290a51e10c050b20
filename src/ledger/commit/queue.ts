import { limits, nextTurn } from '../../core/index.js'
import type { Position } from '../item.js'

/** Of every ledger. */
export const flushLimits = {
  flushItemsMax: limits.FLUSH_ITEMS_MAX,
  flushBytesMax: limits.FLUSH_BYTES_MAX,
  readyItems: limits.FLUSH_READY_ITEMS,
  readyBytes: limits.FLUSH_READY_BYTES
} as const

/** What the queue needs to know of its owner. */
export interface QueueOptions<Item> {
  /**
   * Makes items durable, in order; resolves after the fsync. A rejection poisons the queue (L3).
   */
  readonly write: (items: readonly Item[], last: Position) => Promise<void>
  /** Items of one flush, and their bytes, at most (L1). */
  readonly flushItemsMax: number
  readonly flushBytesMax: number
  /** Flushes without anybody waiting once this much is ready (D2). */
  readonly readyItems: number
  readonly readyBytes: number
  /** The run that an item belongs to. */
  readonly runOf: (item: Item) => string
  /** Told when flushing begins and ends, and when it failed. */
  readonly onChange: (change: 'flushing' | 'idle') => void
  readonly onFail: (error: unknown) => Error
}

interface Wait {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/**
 * The one ordered commit queue of a ledger.
 *
 * Owns: which items are queued, when a flush begins, who waits for which position. Does not own:
 * what an item is, or how it is written.
 *
 * Invariants:
 * - L1 Items are written in the order of `push`; while one flush is under way the next collects.
 * - D2 A flush begins when a caller waits or enough is ready; a wait ends after the fsync.
 * - L3 After a failed write nothing is written any more, and every wait is rejected.
 * - K10 While it is held nothing is written; what is pushed waits.
 */
export class CommitQueue<Item> {
  readonly #options: QueueOptions<Item>
  #items: { readonly item: Item; readonly bytes: number }[] = []
  #bytes = 0
  /** Position of the last item pushed, and of the last durable one. */
  #pushed: Position = 0
  #durable: Position = 0
  /** The batch of the flush that is under way. */
  #writing: readonly Item[] = []
  #writingBytes = 0
  #flushing = false
  #scheduled = false
  /** Callers that hold it. */
  #holds = 0
  /** Told when the flush that was under way has ended. */
  #onFlushed: (() => void)[] = []
  readonly #waits = new Map<Position, Wait>()
  /** Whether the last flush was of one run, and one caller at most has waited for it. */
  #wasForOne = false
  #failure: Error | undefined

  constructor(options: QueueOptions<Item>) {
    this.#options = options
  }

  /** The failure that poisoned the queue. */
  get failure(): Error | undefined {
    return this.#failure
  }

  get lastPosition(): Position {
    return this.#pushed
  }

  /** Visits the items that are not durable yet, in order. Every run that starts does. */
  eachPending(visit: (item: Item, position: Position) => void): void {
    let position = this.#durable
    for (const item of this.#writing) visit(item, ++position)
    for (const { item } of this.#items) visit(item, ++position)
  }

  push(item: Item, bytes: number): Position {
    if (this.#failure !== undefined) throw this.#failure
    this.#items.push({ item, bytes })
    this.#bytes += bytes
    this.#pushed += 1
    const { readyItems, readyBytes } = this.#options
    if (this.#items.length >= readyItems || this.#bytes >= readyBytes) this.#schedule()
    return this.#pushed
  }

  /** Resolves when a position is durable; one that nothing has yet stands for the last. */
  durable(position: Position): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const target = Math.min(position, this.#pushed)
    if (target <= this.#durable) return Promise.resolve()
    let wait = this.#waits.get(target)
    if (wait === undefined) {
      wait = newWait()
      this.#waits.set(target, wait)
      // One run at a time has none to share a flush with: a turn of the loop would be lost.
      if (this.#wasForOne && this.#waits.size === 1) void this.#flush()
      else this.#schedule()
    }
    return wait.promise
  }

  isDurable(position: Position): boolean {
    return position <= this.#durable
  }

  backlog(): { readonly items: number; readonly bytes: number } {
    return {
      items: this.#items.length + this.#writing.length,
      bytes: this.#bytes + this.#writingBytes
    }
  }

  /** Begins no flush any more; resolves at the end of the one that is under way. */
  async hold(): Promise<void> {
    this.#holds += 1
    if (!this.#flushing) return
    await new Promise<void>((resolve) => {
      this.#onFlushed.push(resolve)
    })
  }

  /** Continues after the last {@link hold} with what was pushed meanwhile. */
  release(): void {
    this.#holds -= 1
    if (this.#isDue()) this.#schedule()
  }

  /** Refuses everything from now on and rejects all waits. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#items = []
    this.#bytes = 0
    // What was being written may be there or not: it is not shown before it is read again.
    this.#writing = []
    this.#writingBytes = 0
    for (const wait of this.#waits.values()) wait.reject(error)
    this.#waits.clear()
  }

  // Runs that continue in the same turn of the event loop share the flush.
  #schedule(): void {
    if (this.#flushing || this.#scheduled) return
    this.#scheduled = true
    void nextTurn().then(() => {
      this.#scheduled = false
      void this.#flush()
    })
  }

  async #flush(): Promise<void> {
    if (this.#flushing || this.#items.length === 0 || this.#failure !== undefined) return
    if (this.#holds > 0) return
    this.#flushing = true
    this.#options.onChange('flushing')
    do {
      const batch = this.#take()
      const last = this.#durable + batch.length
      try {
        await this.#options.write(batch, last)
      } catch (error) {
        this.fail(this.#options.onFail(error))
        break
      }
      this.#durable = last
      this.#writing = []
      this.#writingBytes = 0
      // One wait may be for the ends of many runs.
      this.#wasForOne = this.#settle() <= 1 && this.#areOfOneRun(batch)
    } while (this.#isDue())
    this.#flushing = false
    if (this.#failure === undefined) this.#options.onChange('idle')
    for (const onFlushed of this.#onFlushed.splice(0)) onFlushed()
    if (this.#isDue()) this.#schedule()
  }

  #isDue(): boolean {
    if (this.#failure !== undefined || this.#items.length === 0 || this.#holds > 0) return false
    const { readyItems, readyBytes } = this.#options
    return this.#waits.size > 0 || this.#items.length >= readyItems || this.#bytes >= readyBytes
  }

  #take(): readonly Item[] {
    const { flushItemsMax, flushBytesMax } = this.#options
    let count = 0
    let bytes = 0
    for (const next of this.#items) {
      if (count >= flushItemsMax || (count > 0 && bytes + next.bytes > flushBytesMax)) break
      count += 1
      bytes += next.bytes
    }
    const batch = this.#items.slice(0, count).map(({ item }) => item)
    this.#items = this.#items.slice(count)
    this.#bytes -= bytes
    this.#writing = batch
    this.#writingBytes = bytes
    return batch
  }

  #areOfOneRun(items: readonly Item[]): boolean {
    const [first] = items
    if (first === undefined) return true
    const { runOf } = this.#options
    const run = runOf(first)
    return items.every((item) => runOf(item) === run)
  }

  /** Ends the waits for what is durable now; gives their number. */
  #settle(): number {
    let settled = 0
    for (const [position, wait] of this.#waits) {
      if (position > this.#durable) continue
      this.#waits.delete(position)
      wait.resolve()
      settled += 1
    }
    return settled
  }
}

function newWait(): Wait {
  let resolve: () => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<void>((onDone, onFail) => {
    resolve = onDone
    reject = onFail
  })
  // The caller gets the rejection; a second handler keeps a dropped wait from ending the
  // process.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
