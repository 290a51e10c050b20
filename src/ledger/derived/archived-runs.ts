import { ledgerError, type RunId, sha256 } from '../../core/index.js'
import type { StoreKeys } from '../keys.js'
import type { Store } from '../stores/port.js'
import type { RunningDigest } from './digest.js'
import { type IndexEntry, type IndexRun, IndexRuns } from './index-runs.js'
import type { RecordForm } from './record-form.js'

/**
 * Records of runs whose history is archived, set aside so that opening does not read them.
 *
 * Owns: the index of their ids. Does not own: the records, or which runs are set aside.
 *
 * - L6 An id that was set aside has a record: where the index names it and there is none, the
 *   ledger is corrupt. The watermark says which pages the index has, so that none can be missing
 *   unnoticed.
 */
export class ArchivedRuns {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #form: RecordForm
  readonly #index: IndexRuns

  constructor(options: {
    readonly store: Store
    readonly keys: StoreKeys
    readonly form: RecordForm
    readonly runs: readonly IndexRun[]
  }) {
    const { store, keys, form, runs } = options
    this.#store = store
    this.#keys = keys
    this.#form = form
    const pageKey = (run: number, page: number) => keys.archivedRunsPage(run, page)
    this.#index = new IndexRuns({ store, form, runs, pageKey })
  }

  get index(): readonly IndexRun[] {
    return this.#index.runs
  }

  /** The body of a run's record; undefined when none was set aside. Throws `ledger.corrupt`. */
  body(runId: RunId): Buffer | undefined {
    if (this.index.length === 0) return undefined
    const key = this.#keys.archivedRun(runId)
    const value = this.#store.get(key)
    if (value !== undefined) return this.#form.body(key, value)
    if (!this.#names(runId)) return undefined
    throw ledgerError('ledger.corrupt', { key, problem: 'the value is missing' })
  }

  /** Ids that begin with `prefix`, sorted. */
  async *ids(prefix: string): AsyncGenerator<RunId> {
    if (this.index.length === 0) return
    const range = this.#keys.archivedRuns(prefix)
    for await (const [key] of this.#store.entries(range)) yield this.#keys.archivedRunId(key)
  }

  /**
   * What to write so that the records of these runs are set aside, as far as they are not, and are
   * no longer among those of `running`; {@link adopt} the runs of the index once it is durable.
   */
  async setAside(
    runIds: readonly RunId[],
    running: RunningDigest,
    watermark: number
  ): Promise<{
    readonly runs: readonly IndexRun[]
    readonly puts: readonly (readonly [string, Uint8Array])[]
    readonly deletes: readonly string[]
  }> {
    const moved: RunId[] = []
    const puts: (readonly [string, Uint8Array])[] = []
    const deletes: string[] = []
    for (const runId of runIds) {
      const [from, to] = [this.#keys.run(runId), this.#keys.archivedRun(runId)]
      const value = this.#store.get(from)
      if (value === undefined) continue
      running.remove(from, value)
      moved.push(runId)
      deletes.push(from)
      for await (const [key] of this.#store.entries(this.#keys.picturesOf(runId))) deletes.push(key)
      puts.push([to, this.#form.wrap(to, this.#form.body(from, value), watermark)])
    }
    const index = await this.#index.add(moved.map(archivedEntry), watermark)
    return {
      runs: index.runs,
      puts: [...puts, ...index.puts],
      deletes: [...deletes, ...index.deletes]
    }
  }

  adopt(runs: readonly IndexRun[]): void {
    this.#index.adopt(runs)
  }

  /** Every entry of the index as stored. */
  slots(): Generator<Buffer> {
    return this.#index.slots()
  }

  #names(runId: RunId): boolean {
    const { key, commitSeq, ordinal } = archivedEntry(runId)
    const candidates = this.#index.find(key)
    return candidates.some((one) => one.commitSeq === commitSeq && one.ordinal === ordinal)
  }
}

/** The entry of a run's id: 16 bytes of a hash of it, where that of a receipt has its place. */
export function archivedEntry(runId: RunId): IndexEntry {
  const hash = sha256(runId)
  return {
    key: hash.subarray(0, 8),
    commitSeq: hash.readUIntBE(8, 5),
    ordinal: hash.readUIntBE(13, 3)
  }
}
