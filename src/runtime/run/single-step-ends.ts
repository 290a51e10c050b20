import type { InlineOutcome, Position } from '../../block/index.js'
import type { LiveRun, RunEntry } from './run-entry.js'
import type { RunStore } from './run-store.js'

type Ended = InlineOutcome & { readonly kind: 'ended' }

/** A single-step run that came to its end without a pump. */
class SingleStepEnd implements LiveRun {
  readonly pump = undefined
  readonly entry: RunEntry
  readonly ended: Ended
  readonly #ends: SingleStepEnds

  constructor(ends: SingleStepEnds, entry: RunEntry, ended: Ended) {
    this.#ends = ends
    this.entry = entry
    this.ended = ended
  }

  get position(): Position {
    return this.ended.position
  }

  get over(): Promise<void> {
    return this.#ends.over
  }
}

/**
 * Ends of single-step runs on their way to disk.
 *
 * Owns: which entry gets which end. Does not own: the ends, which are in the commit queue.
 *
 * D2 No end is shown before it is durable. All of one flush are shown together: one wait for many
 * intents.
 */
export class SingleStepEnds {
  readonly #store: RunStore
  /** By position, ascending. */
  #ends: SingleStepEnd[] = []
  #draining: Promise<void> | undefined

  constructor(store: RunStore) {
    this.#store = store
  }

  /** Resolves when every end that came before is settled. */
  get over(): Promise<void> {
    return this.#draining ?? Promise.resolve()
  }

  /** Settles an end once it is durable; until then the run is in memory as this. */
  add(entry: RunEntry, ended: Ended): void {
    const end = new SingleStepEnd(this, entry, ended)
    this.#ends.push(end)
    this.#draining ??= this.#drain()
    this.#store.enter(entry, end)
  }

  async #drain(): Promise<void> {
    const store = this.#store
    const { ledger } = store.parts
    for (let first = this.#ends[0]; first !== undefined; first = this.#ends[0]) {
      try {
        await ledger.durable(first.position)
      } catch (error) {
        for (const { entry } of this.#take(() => true)) {
          store.leave(entry)
          store.settle(entry, { error })
        }
        break
      }
      for (const { entry, ended } of this.#take(({ position }) => ledger.isDurable(position))) {
        const { response, receiptHash, dappId } = ended
        store.leave(entry)
        store.settle(entry, {
          result: { id: entry.runId, status: 'done', response, receiptHash, dappId }
        })
      }
    }
    this.#draining = undefined
  }

  #take(isTaken: (end: SingleStepEnd) => boolean): readonly SingleStepEnd[] {
    const left = this.#ends.findIndex((end) => !isTaken(end))
    return this.#ends.splice(0, left < 0 ? this.#ends.length : left)
  }
}
