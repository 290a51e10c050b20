import type { Position, Straight } from '../block/index.js'
import type { RunId } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import type { Known, LiveRun, Settled } from './known.js'

type Ended = Straight & { readonly kind: 'ended' }

/** A lone intent that came to its end without a pump. */
class LoneEnd implements LiveRun {
  readonly pump = undefined
  readonly runId: RunId
  readonly known: Known
  readonly ended: Ended
  readonly #ends: LoneEnds

  constructor(ends: LoneEnds, runId: RunId, known: Known, ended: Ended) {
    this.#ends = ends
    this.runId = runId
    this.known = known
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
 * Ends of lone intents on their way to disk.
 *
 * Owns: who is told of which end. Does not own: the ends, which are in the commit queue.
 *
 * D2 Nobody is told of an end before it is durable. All of one flush are told together: one wait
 * for many intents.
 */
export class LoneEnds {
  readonly #ledger: Pick<Ledger, 'durable' | 'isDurable'>
  readonly #settle: (runId: RunId, known: Known, how: Settled) => void
  /** By position, ascending. */
  #ends: LoneEnd[] = []
  #draining: Promise<void> | undefined

  constructor(options: {
    readonly ledger: Pick<Ledger, 'durable' | 'isDurable'>
    readonly settle: (runId: RunId, known: Known, how: Settled) => void
  }) {
    this.#ledger = options.ledger
    this.#settle = options.settle
  }

  /** Resolves when every end that came before has been told. */
  get over(): Promise<void> {
    return this.#draining ?? Promise.resolve()
  }

  /** Tells of an end once it is durable; until then the run is in memory as this. */
  add(runId: RunId, known: Known, ended: Ended): LiveRun {
    const end = new LoneEnd(this, runId, known, ended)
    this.#ends.push(end)
    this.#draining ??= this.#drain()
    return end
  }

  async #drain(): Promise<void> {
    for (let first = this.#ends[0]; first !== undefined; first = this.#ends[0]) {
      try {
        await this.#ledger.durable(first.position)
      } catch (error) {
        for (const { runId, known } of this.#take(() => true)) {
          this.#settle(runId, known, { error })
        }
        break
      }
      for (const { runId, known, ended } of this.#take((end) => this.#isDurable(end))) {
        const { response, receiptHash, dappId } = ended
        const result = { id: runId, status: 'done', response, receiptHash, dappId } as const
        this.#settle(runId, known, { result })
      }
    }
    this.#draining = undefined
  }

  #isDurable({ position }: LoneEnd): boolean {
    return this.#ledger.isDurable(position)
  }

  #take(isTaken: (end: LoneEnd) => boolean): readonly LoneEnd[] {
    const left = this.#ends.findIndex((end) => !isTaken(end))
    return this.#ends.splice(0, left < 0 ? this.#ends.length : left)
  }
}
