import { blockError, type Hash, isTallyError } from '../../core/index.js'
import { type RunCheckpoint, restore } from '../run/checkpoint.js'
import type { JournalEntry, RunStarted } from '../run/entries.js'
import type { RunState } from '../run/run-state.js'

/** An entry as the journal gives it back, with the receipt that it completed. */
export interface RecordedEntry {
  readonly entry: JournalEntry
  readonly text: string
  readonly receiptHash: Hash | undefined
  readonly mac: Hash | undefined
}

/** The run that is recovered. */
export interface RecoveredRun {
  readonly state: RunState
  readonly writer: { recover(recorded: RecordedEntry): void; checkRecovered(): void }
  readonly inbox: {
    readonly failure: { readonly error: unknown } | undefined
    fail(error: unknown): void
  }
}

/** What recovering needs of its pump. */
export interface RecoveryPort {
  readonly saved: RunCheckpoint | undefined
  apply(entry: JournalEntry): void
  /** Starts the actors, from the checkpoint's snapshot if there is one. */
  start(): void
  takeAsks(): void
}

/**
 * Rebuilds a run from its checkpoint and from what its journal has beyond it, or beyond its start
 * without one, entry by entry: however long the journal is, no more than one is in memory.
 *
 * Owns: whether there were such entries. Does not own: the state that they lead to, or what keeps
 * the run from being recovered, which its inbox has until the run is resumed and ends with it.
 *
 * - D6: entries are applied as a live pump applies them.
 */
export class JournalRecovery {
  readonly #run: RecoveredRun
  readonly #port: RecoveryPort
  #hasRecovered = false

  constructor(run: RecoveredRun, port: RecoveryPort) {
    this.#run = run
    this.#port = port
  }

  /** Takes over the checkpoint; the entries after it come next. */
  begin(started: RunStarted): void {
    this.#try(() => {
      const { state } = this.#run
      const { saved } = this.#port
      state.started = started
      if (saved !== undefined) restore(state, saved)
      this.#port.start()
      this.#port.takeAsks()
      for (const entry of saved?.open ?? []) this.#port.apply(entry)
      // The restored charts know already which leaves are WAITING.
      for (const path of saved?.waiting ?? []) state.attempts.wait(path)
      // Those of the open waits among them were counted just now.
      state.waits.restoreAskings(saved?.askings ?? [])
      for (const [token, approvals] of Object.entries(saved?.approvals ?? {})) {
        for (const approval of approvals) state.waits.approved(token, approval)
      }
    })
  }

  /** Whether entries beyond the checkpoint were taken. */
  get hasRecovered(): boolean {
    return this.#hasRecovered
  }

  take(recorded: RecordedEntry): void {
    this.#try(() => {
      this.#run.writer.recover(recorded)
      this.#hasRecovered = true
      this.#apply(recorded)
      this.#port.takeAsks()
    })
  }

  /** Throws what has kept the run from being recovered, `run.journal_forged` among it. */
  finish(): void {
    const { inbox, writer } = this.#run
    if (inbox.failure !== undefined) throw inbox.failure.error
    if (this.#hasRecovered) writer.checkRecovered()
  }

  /** An entry comes from the disk: one of another form is no fault of this program. */
  #apply({ entry }: RecordedEntry): void {
    try {
      checkPlaces(entry)
      this.#port.apply(entry)
    } catch (cause) {
      if (isTallyError(cause)) throw cause
      const { runId } = this.#run.state
      const context = { runId, entry: entry.n, kind: entry.k }
      throw blockError('run.journal_malformed', context, { cause })
    }
  }

  #try(work: () => void): void {
    const { inbox } = this.#run
    if (inbox.failure !== undefined) return
    try {
      work()
    } catch (error) {
      inbox.fail(error)
    }
  }
}

const places = [
  ['attempt', 'number'],
  ['path', 'string'],
  ['seq', 'number'],
  ['step', 'number'],
  ['token', 'string']
] as const

/**
 * What names a place, and is of another type, would be noticed only where a later entry uses it; a
 * wait that is none, where it is shown.
 */
function checkPlaces(entry: RecordedEntry['entry']): void {
  // Members of all kinds by their names; copying each entry would cost more than the look.
  const said = entry as unknown as Readonly<Record<string, unknown>>
  for (const [name, type] of places) {
    const value = said[name]
    // What has no number of its own says null: a wait for the next attempt.
    if (value === undefined || (value === null && type === 'number')) continue
    if (typeof value !== type) throw new TypeError(`${name} is no ${type}`)
  }
  if (said['k'] !== 'wait') return
  const { path, token, reason, actions } = said
  const isNamed = [path, token, reason].every((member) => typeof member === 'string')
  if (!isNamed || !Array.isArray(actions)) throw new TypeError('it is no wait')
}
