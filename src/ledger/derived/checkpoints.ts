import { isTallyError, type RunId } from '../../core/index.js'
import type { StoreKeys } from '../keys.js'
import type { SavedCheckpoint } from '../ledger-api.js'
import type { Store } from '../stores/port.js'
import type { RecordForm } from './record-form.js'

interface PendingCheckpoint {
  readonly checkpoint: SavedCheckpoint | null
  /** It is written once everything up to here is durable. */
  readonly position: number
}

/** Checkpoints of runs: those that wait to be written with the next batch, and those on disk. */
export class Checkpoints {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #form: RecordForm
  readonly #pending = new Map<RunId, PendingCheckpoint>()
  #bytes = 0

  constructor(store: Store, keys: StoreKeys, form: RecordForm) {
    this.#store = store
    this.#keys = keys
    this.#form = form
  }

  /** Of those that wait. */
  get pendingBytes(): number {
    return this.#bytes
  }

  /** The newest of a run wins; null removes it. */
  save(runId: RunId, checkpoint: SavedCheckpoint | null, position: number): void {
    const known = this.#pending.get(runId)
    if (known !== undefined) this.#drop(runId, known)
    this.#pending.set(runId, { checkpoint, position })
    this.#bytes += checkpoint?.text.length ?? 0
  }

  of(runId: RunId): SavedCheckpoint | undefined {
    const pending = this.#pending.get(runId)
    if (pending !== undefined) return pending.checkpoint ?? undefined
    const key = this.#keys.checkpoint(runId)
    const value = this.#store.get(key)
    if (value === undefined) return undefined
    try {
      return decoded(this.#form.body(key, value).toString())
    } catch (error) {
      // The journal has all of it: one of 0.1.0, or not by this key, is left aside.
      if (isTallyError(error, 'ledger.corrupt')) return undefined
      throw error
    }
  }

  /**
   * What to write of those that may be written; call `written` once it is on disk. `watermark`:
   * commits that the batch covers.
   */
  batch(
    durable: number,
    watermark: number
  ): {
    readonly puts: readonly (readonly [string, Uint8Array])[]
    readonly deletes: readonly string[]
    readonly written: () => void
  } {
    const due = [...this.#pending].filter(([, { position }]) => position <= durable)
    const puts: (readonly [string, Uint8Array])[] = []
    const deletes: string[] = []
    for (const [runId, { checkpoint }] of due) {
      const key = this.#keys.checkpoint(runId)
      if (checkpoint === null) deletes.push(key)
      else puts.push([key, this.#form.wrap(key, encoded(checkpoint), watermark)])
    }
    const written = () => {
      for (const [runId, one] of due) this.#drop(runId, one)
    }
    return { puts, deletes, written }
  }

  #drop(runId: RunId, pending: PendingCheckpoint): void {
    if (this.#pending.get(runId) !== pending) return
    this.#pending.delete(runId)
    this.#bytes -= pending.checkpoint?.text.length ?? 0
  }
}

function encoded({ text, entries }: SavedCheckpoint): string {
  return `${entries}\n${text}`
}

function decoded(stored: string): SavedCheckpoint {
  const at = stored.indexOf('\n')
  return { entries: Number(stored.slice(0, at)), text: stored.slice(at + 1) }
}
