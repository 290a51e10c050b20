import type { RunId } from '../../core/index.js'
import { runChangesIn } from '../derived/run-records.js'
import type { RecordItem } from '../record/record.js'
import type { OpenStatus } from './format.js'

/** Runs that have begun and not ended, by the records alone; holds no others. */
export class OpenRuns {
  readonly #open = new Map<RunId, OpenStatus>()

  add({ runId, entries }: RecordItem): void {
    const last = runChangesIn(entries).at(-1)
    if (last === undefined) return
    const { status } = last
    if (status === 'running' || status === 'waiting') this.#open.set(runId, status)
    else if (typeof status === 'string') this.#open.delete(runId)
  }

  get size(): number {
    return this.#open.size
  }

  /** Ascending by id. */
  list(): readonly (readonly [RunId, OpenStatus])[] {
    return [...this.#open].sort(([one], [other]) => (one < other ? -1 : 1))
  }
}
