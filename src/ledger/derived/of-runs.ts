import { isTallyError, limits, type RunId } from '../../core/index.js'
import type { StoreKeys } from '../keys.js'
import type { PicturePlace, RunPictures, SavedCheckpoint } from '../ledger-api.js'
import type { Store } from '../stores/port.js'
import type { RecordForm } from './record-form.js'

/**
 * What runs write beside their journals, which only saves time: checkpoints, and pictures of where
 * their charts stood.
 *
 * Owns: those that wait for the next batch of derived records. Does not own: what stands in them.
 *
 * - L1 None is written before the position that it was given is durable.
 * - L12 Each carries a code by the identity's blob key; one without is left aside.
 */
export class RecordsOfRuns implements RunPictures {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #form: RecordForm
  readonly #pending = new Map<string, PendingRecord>()
  /** Characters that wait. */
  readonly #lengths = { checkpoint: 0, picture: 0 }

  constructor(store: Store, keys: StoreKeys, form: RecordForm) {
    this.#store = store
    this.#keys = keys
    this.#form = form
  }

  /** Whether enough waits for a batch of its own. */
  get isDue(): boolean {
    const { checkpoint, picture } = this.#lengths
    return checkpoint >= limits.DERIVE_CHECKPOINT_BYTES || picture >= limits.DERIVE_PICTURE_BYTES
  }

  saveCheckpoint(runId: RunId, checkpoint: SavedCheckpoint | null, position: number): void {
    const text = checkpoint && `${checkpoint.entries}\n${checkpoint.text}`
    this.#save(this.#keys.checkpoint(runId), { kind: 'checkpoint', text, position })
  }

  checkpoint(runId: RunId): SavedCheckpoint | undefined {
    const stored = this.#text(this.#keys.checkpoint(runId))
    if (stored === undefined) return undefined
    const at = stored.indexOf('\n')
    return { entries: Number(stored.slice(0, at)), text: stored.slice(at + 1) }
  }

  savePicture({ runId, stretch }: PicturePlace, text: string | null, position: number): void {
    this.#save(this.#keys.picture(runId, stretch), { kind: 'picture', text, position })
  }

  picture({ runId, stretch }: PicturePlace): string | undefined {
    return this.#text(this.#keys.picture(runId, stretch))
  }

  /** What is to be written now; `written` forgets it. */
  batch(durable: number, watermark: number): RecordsBatch {
    const due = [...this.#pending].filter(([, { position }]) => position <= durable)
    const puts = due.flatMap(([key, { text }]) =>
      text === null ? [] : [[key, this.#form.wrap(key, text, watermark)] as const]
    )
    const deletes = due.flatMap(([key, { text }]) => (text === null ? [key] : []))
    const written = () => {
      for (const [key, record] of due) if (this.#pending.get(key) === record) this.#drop(key)
    }
    return { puts, deletes, written }
  }

  #save(key: string, record: PendingRecord): void {
    this.#drop(key)
    this.#pending.set(key, record)
    this.#lengths[record.kind] += record.text?.length ?? 0
  }

  #drop(key: string): void {
    const record = this.#pending.get(key)
    if (record === undefined) return
    this.#lengths[record.kind] -= record.text?.length ?? 0
    this.#pending.delete(key)
  }

  #text(key: string): string | undefined {
    const pending = this.#pending.get(key)
    if (pending !== undefined) return pending.text ?? undefined
    const value = this.#store.get(key)
    if (value === undefined) return undefined
    try {
      return this.#form.body(key, value).toString()
    } catch (error) {
      // The journal has all of it: one of 0.1.0, or not by this key, is left aside.
      if (isTallyError(error, 'ledger.corrupt')) return undefined
      throw error
    }
  }
}

interface PendingRecord {
  readonly kind: 'checkpoint' | 'picture'
  readonly text: string | null
  readonly position: number
}

/** Records for one batch. */
export interface RecordsBatch {
  readonly puts: readonly (readonly [key: string, value: Uint8Array])[]
  readonly deletes: readonly string[]
  written(): void
}
