import type { RunStarted } from '../../block/index.js'
import { isTallyError, limits, type RunId, type TallyError } from '../../core/index.js'
import type { RunRecord } from '../../ledger/index.js'
import { lacksCode, resumable } from '../code/recorded-run.js'
import type { DeliveredEvent } from './channel.js'
import type { RunEntry } from './run-entry.js'
import type { RunsOptions } from './run-terms.js'

/**
 * Open runs that this process cannot resume, because code that they pinned is not registered (B10).
 * Everything else works; such a run can be shown and cancelled, and resumes where its code is.
 *
 * Owns: which runs they are and why, as far as they were looked at; bounded.
 */
export class RunsWithoutCode {
  readonly #parts: Pick<RunsOptions, 'ledger' | 'registry' | 'events'>
  readonly #why = new Map<RunId, string>()
  #looking: Promise<void> | undefined
  /** Open runs that may lack code, of those that opening has gone through; undefined: of none. */
  #seen: RunRecord[] | undefined
  #isClosing = false

  constructor(parts: Pick<RunsOptions, 'ledger' | 'registry' | 'events'>) {
    this.#parts = parts
  }

  /** Resumes a run; readers of one whose code is missing get an event. */
  async resuming<Resumed>(entry: RunEntry, resume: () => Promise<Resumed>): Promise<Resumed> {
    const { runId } = entry
    try {
      const resumed = await resume()
      this.#why.delete(runId)
      return resumed
    } catch (error) {
      if (lacksCode(error)) this.#rests(runId, error.message)
      for (const event of this.present(runId)) entry.tell(event)
      throw error
    }
  }

  /** False for a run that rests: whatever is wrong with one keeps no ledger from opening. */
  async unlessItRests(runId: RunId, resuming: Promise<void>): Promise<boolean> {
    try {
      await resuming
      return true
    } catch (error) {
      if (!isTallyError(error) || !isOfRun(error)) throw error
      this.#rests(runId, error.message)
      return false
    }
  }

  /** The event that tells a reader why a run does not move; none when it does not rest. */
  present(runId: RunId): readonly DeliveredEvent[] {
    const why = this.#why.get(runId)
    const at = this.#parts.ledger.run(runId)?.updatedAt ?? 0
    return why === undefined ? [] : [{ type: 'run.resting', runId, at, why }]
  }

  /** Notes an open run for {@link look}, which reads none that was seen once more. */
  seen(record: RunRecord): void {
    if (this.#looking !== undefined) return
    this.#seen ??= []
    if (this.#mayLack(record) && this.#seen.length < limits.CACHE_ENTRIES_MAX) {
      this.#seen.push(record)
    }
  }

  /** Looks at every open run, beside other work: a ledger may have many that have ended. */
  look(): void {
    // What cannot be read now is reported by the next read.
    this.#looking ??= this.#look().catch(() => undefined)
  }

  /** In words, for `status()` and `tally doctor`. */
  async warnings(): Promise<readonly string[]> {
    await this.#looking
    return this.warningsNow()
  }

  warningsNow(): readonly string[] {
    const shown = [...this.#why].slice(0, limits.RESTING_RUNS_SHOWN_MAX)
    const rest = this.#why.size - shown.length
    const texts = shown.map(([runId, why]) => `run ${runId} rests: ${why}`)
    return rest === 0 ? texts : [...texts, `${rest} more runs rest`]
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.#looking
  }

  async #look(): Promise<void> {
    const { ledger, registry } = this.#parts
    const records = this.#seen ?? ledger.openRuns()
    this.#seen = undefined
    for (const record of records) {
      if (this.#isClosing) return
      if (!this.#mayLack(record)) continue
      const recorded = await resumable(registry.documents, startedOf(record))
      if (recorded.kind !== 'missing') continue
      const names = recorded.missing.join(', ')
      this.#rests(record.runId, `it needs ${names}, not registered`)
    }
  }

  /** Compiling is left to resuming, unless a name is missing: some rooms are loaded late. */
  #mayLack(record: RunRecord): boolean {
    const { pins } = startedOf(record)
    return pins !== undefined && this.#parts.registry.code.missing(pins).length > 0
  }

  #rests(runId: RunId, why: string): void {
    const isNew = !this.#why.has(runId)
    if (isNew && this.#why.size >= limits.CACHE_ENTRIES_MAX) return
    this.#why.set(runId, why)
    if (!isNew) return
    for (const event of this.present(runId)) this.#parts.events.emit('event', event)
  }
}

function startedOf({ started }: RunRecord): RunStarted {
  return started as unknown as RunStarted
}

/** Whether an error is about one run, and not about the ledger. */
function isOfRun({ code }: TallyError): boolean {
  return code.startsWith('run.')
}
