import type { RunStarted } from '../../block/index.js'
import type { RunId } from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import type { QueuePlace, QueueTerms, WorkQueues } from '../../queue/index.js'

/**
 * Runs that wait in a queue for their turn, and those that have it, from their first step to their
 * end: also while they are parked, so that a run never waits for a second turn with work half done.
 *
 * Owns: the places of this process. Does not own: what waits, which the ledger has: a run that
 * names a queue and has done nothing yet. So a restart finds it, in the order in which runs began.
 */
export class RunTurns {
  readonly #queues: WorkQueues
  readonly #admitted: (runId: RunId) => void
  readonly #places = new Map<RunId, QueuePlace>()

  constructor(queues: WorkQueues, admitted: (runId: RunId) => void) {
    this.#queues = queues
    this.#admitted = admitted
  }

  /** Whether a run waits for its turn. */
  waits(runId: RunId): boolean {
    return this.#places.get(runId)?.isAdmitted === false
  }

  /** A run that begins now asks for its turn; whether it has to wait. */
  enter(runId: RunId, terms: QueueTerms, since: number): boolean {
    this.#places.set(runId, this.#queues.enter('runs', terms, this.#work(runId, since)))
    return this.waits(runId)
  }

  /** The same for a run of the ledger, which has kept its turn if it has begun. */
  async found(ledger: Ledger, record: RunRecord): Promise<boolean> {
    const { runId } = record
    const { queue, at } = record.started as unknown as RunStarted
    if (queue === undefined) return false
    if (this.#places.has(runId)) return this.waits(runId)
    const hasBegun = await begins(ledger, record)
    if (this.#places.has(runId)) return this.waits(runId)
    if (!hasBegun) return this.enter(runId, queue, at)
    this.#places.set(runId, this.#queues.take('runs', queue, this.#work(runId, at)))
    return false
  }

  /** A run has ended, or is given up by this process. */
  leave(runId: RunId): void {
    const place = this.#places.get(runId)
    if (place === undefined) return
    this.#places.delete(runId)
    place.leave()
  }

  #work(runId: RunId, since: number) {
    return { runId, path: null, effect: null, since, admitted: () => this.#admitted(runId) }
  }
}

/** Whether anything of a run was done: signals come to those that wait, too. */
async function begins(ledger: Ledger, { runId, entries, last }: RunRecord): Promise<boolean> {
  if (last['k'] !== 'run.started') return true
  if (entries === 1) return false
  for await (const { value } of ledger.journal(runId, 1)) {
    const { k } = value as { readonly k?: string }
    if (k !== 'signal') return true
  }
  return false
}

/** Whether a record is that of a run that waits for its turn, as far as the record says. */
export function isQueued({ started, status, last, entries }: RunRecord): boolean {
  const isFirst = entries === 1 && last['k'] === 'run.started'
  return started['queue'] !== undefined && status === 'running' && isFirst
}
