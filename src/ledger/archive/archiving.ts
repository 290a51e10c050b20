import { ledgerError, type RunId, type TallyError } from '../../core/index.js'
import type { RecordForm } from '../derived/record-form.js'
import type { ArchiveEnd, LedgerArchiving, OnArchiveProgress } from './archiving-api.js'
import type { ArchivingParts } from './archiving-parts.js'
import { type Boundary, firstBoundary } from './boundary.js'
import {
  type ArchivedHistory,
  archivedError,
  historyText,
  type PendingHistory,
  pendingText,
  readPending
} from './history.js'

/**
 * Archiving of an open ledger.
 *
 * Owns: what was archived, and removing it from the store. Does not own: when it is done, the
 * receipt that says so, and which runs are to stay.
 *
 * - G1 Nothing is removed before the file was read back and verified, and a receipt that names its
 *   hash and its end is durable.
 * - G2 One write makes the archive part of the ledger; before it the ledger is whole, and behind it
 *   whatever is still there is only not removed yet. Removing goes on at the next opening.
 * - G3 Records that tell of runs stay: an id that was used is refused for ever (L6).
 */
export class Archiving implements LedgerArchiving {
  readonly #parts: ArchivingParts
  #history: ArchivedHistory | undefined

  constructor(parts: ArchivingParts) {
    this.#parts = parts
    this.#history = parts.history
  }

  get history(): ArchivedHistory | undefined {
    return this.#history
  }

  /** The error that says in which archive a run stands; undefined while its journal is here. */
  errorOf(runId: RunId): TallyError | undefined {
    const history = this.#history
    if (history === undefined) return undefined
    const { store, keys, derived } = this.#parts
    const commits = [...derived.visits(runId)].map(([seq]) => seq)
    // Without the key records of archived runs are not believed, and yet they are there.
    const isNamed = [keys.run(runId), keys.archivedRun(runId)].some(
      (key) => store.get(key) !== undefined
    )
    if (commits.length === 0 && isNamed) {
      return archivedError(history, `Run ${runId}`, 0)
    }
    const missing = [commits.at(-1), commits[0]].find(
      (seq) =>
        seq !== undefined &&
        seq < history.boundary.commits &&
        store.get(keys.commit(seq)) === undefined
    )
    return missing === undefined ? undefined : archivedError(history, `Run ${runId}`, missing)
  }

  /** Runs that have not ended. */
  openRuns(): readonly RunId[] {
    return [...this.#parts.derived.openRuns()].map(([runId]) => runId)
  }

  async end(options: ArchiveEnd): Promise<Boundary> {
    const { archiveEnd } = await making()
    return archiveEnd(this.#parts, this.#from, options)
  }

  async write(path: string, to: Boundary, onProgress?: OnArchiveProgress) {
    const { makeArchive } = await making()
    const earlier = this.#history?.archives ?? []
    return makeArchive(this.#parts, { path, from: this.#from, to, earlier, onProgress })
  }

  /** Notes what the receipt of a run will make true. */
  begin(pending: PendingHistory): Promise<void> {
    const { store, keys } = this.#parts
    const value = this.#form.wrap(keys.archiving, pendingText(pending), 0)
    return this.#parts.behind(() =>
      store.commit([{ puts: [[keys.archiving, value]], deletes: [] }])
    )
  }

  /** Forgets what was begun: there is no receipt. */
  abandon(): Promise<void> {
    const { store, keys } = this.#parts
    return this.#parts.behind(() => store.commit([{ puts: [], deletes: [keys.archiving] }]))
  }

  /** Makes the archive part of the ledger, whose receipt is durable, and removes what it has. */
  async finish(
    history: ArchivedHistory,
    isHeld: (runId: RunId) => boolean,
    onProgress?: OnArchiveProgress
  ): Promise<void> {
    await this.#parts.settle()
    await this.#put(history)
    await this.sweep(isHeld, onProgress)
  }

  /**
   * Goes on with what an earlier process has begun. `hasReceipt`: whether the run that archives has
   * its receipt.
   */
  async resume(
    hasReceipt: (runId: RunId) => boolean,
    isHeld: (runId: RunId) => boolean
  ): Promise<void> {
    const { store, keys, form } = this.#parts
    const pending = form && readPending(store, keys, form)
    if (pending !== undefined) {
      if (hasReceipt(pending.runId)) return this.finish(pending.history, isHeld)
      await this.abandon()
    }
    if (form !== undefined && this.#history?.isSwept === false) await this.sweep(isHeld)
  }

  /** Removes from the store what archives have, but for what open runs still need. */
  async sweep(
    isHeld: (runId: RunId) => boolean,
    onProgress: OnArchiveProgress = () => undefined
  ): Promise<void> {
    const history = this.#history
    if (history === undefined) return
    const { Sweep } = await import('./sweep.js')
    await new Sweep(this.#parts, history.boundary, isHeld).run(onProgress)
    await this.#put({ ...history, isSwept: true })
    await this.#parts.store.compact()
  }

  get #form(): RecordForm {
    const { form } = this.#parts
    if (form === undefined) throw ledgerError('ledger.read_only', {})
    return form
  }

  get #from(): Boundary {
    return this.#history?.boundary ?? firstBoundary
  }

  async #put(history: ArchivedHistory): Promise<void> {
    const { store, keys } = this.#parts
    const text = historyText(history)
    const value = this.#form.wrap(keys.archived, text, history.boundary.commits)
    await this.#parts.behind(() =>
      store.commit([{ puts: [[keys.archived, value]], deletes: [keys.archiving] }])
    )
    this.#history = history
  }
}

/** What only archiving needs is loaded by it. */
const making = () => import('./making.js')
