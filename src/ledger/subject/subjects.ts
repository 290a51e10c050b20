import { coreError, type JsonObject, ledgerError, limits, type RunId } from '../../core/index.js'
import { beginsRun, runChangesOf } from '../derived/run-records.js'
import type { JournalItem } from '../item.js'
import { type SubjectCipher, subjectOf } from './cipher.js'
import { noSubjects, type SubjectId, type SubjectKeys, subjectIdOf } from './subject-keys.js'
import { ERASED_PREFIX, type LedgerSubjects } from './subjects-api.js'

/**
 * Owns: which runs that go on have a subject. Does not own: the keys, or what is under them.
 *
 * - G5 An entry of a run with a subject is written under the key of the subject, or not at all.
 */
export class RunSubjects implements LedgerSubjects {
  readonly #blobKey: Uint8Array | undefined
  readonly #keys: SubjectKeys | undefined
  readonly #cipher: SubjectCipher
  readonly #read: (stateKey: string) => string | undefined
  /** The first entry of a run as it is stored; undefined where there is none. */
  readonly #startedOf: (runId: RunId) => JsonObject | undefined
  /** Of runs that have not ended, those met last: the others are asked of their first entry. */
  readonly #open = new Map<RunId, SubjectId | undefined>()
  /** Of runs that have no entry yet: nothing else tells of them, so none is ever dropped. */
  readonly #expected = new Map<RunId, SubjectId>()
  readonly #closed = new Set<SubjectId>()
  readonly #onDestroyed: () => void

  constructor(parts: {
    readonly blobKey: Uint8Array | undefined
    readonly keys: SubjectKeys | undefined
    readonly cipher: SubjectCipher
    readonly read: (stateKey: string) => string | undefined
    readonly startedOf: (runId: RunId) => JsonObject | undefined
    /** Forgets what was read. */
    readonly onDestroyed: () => void
  }) {
    this.#blobKey = parts.blobKey
    this.#keys = parts.keys
    this.#cipher = parts.cipher
    this.#read = parts.read
    this.#startedOf = parts.startedOf
    this.#onDestroyed = parts.onDestroyed
  }

  idOf(subject: string): SubjectId {
    if (this.#blobKey === undefined || this.#keys === undefined) throw noSubjects()
    return subjectIdOf(this.#blobKey, subject)
  }

  async begin(subject: string): Promise<void> {
    const id = this.idOf(subject)
    if (this.isErased(id)) throw ledgerError('ledger.subject_erased', {})
    await this.#keys?.create(id)
    // It may have been erased meanwhile.
    if (this.isErased(id)) await this.destroy(id)
  }

  expect(runId: RunId, subject: string): void {
    const limit = limits.RUNS_LIVE_MAX
    if (this.#expected.size >= limit) {
      const what = 'Runs with a subject that are about to begin'
      throw coreError('core.limit_exceeded', { what, actual: limit + 1, limit })
    }
    this.#expected.set(runId, this.idOf(subject))
  }

  sealSchedule(subject: string, name: string, text: string): string {
    return this.#cipher.encryptSchedule(this.idOf(subject), name, text)
  }

  openSchedule(name: string, sealed: string): string | undefined {
    return this.#cipher.openSchedule(name, sealed)
  }

  isErased(id: SubjectId): boolean {
    return this.#closed.has(id) || this.#read(ERASED_PREFIX + id) !== undefined
  }

  close(id: SubjectId): void {
    this.#closed.add(id)
  }

  reopen(id: SubjectId): void {
    this.#closed.delete(id)
  }

  has(id: SubjectId): boolean {
    return this.#keys?.get(id) !== undefined
  }

  of(runId: RunId): SubjectId | undefined {
    const expected = this.#expected.get(runId)
    if (expected !== undefined) return expected
    if (this.#open.has(runId)) return this.#open.get(runId)
    return subjectOf(this.#startedOf(runId))
  }

  async destroy(id: SubjectId): Promise<void> {
    await this.#keys?.destroy(id)
    this.#onDestroyed()
  }

  /** Under whose key an item is to be written. Throws `ledger.no_subjects`. */
  take(item: JournalItem): SubjectId | undefined {
    const { runId } = item
    if (item.entries.length === 0) return this.of(runId)
    const changes = runChangesOf(item)
    const [first] = changes
    // Known by this entry from now on; where it is refused, the run has not begun.
    if (beginsRun(first)) this.#expected.delete(runId)
    const id = beginsRun(first) ? this.#begun(first?.text ?? '') : this.of(runId)
    if (changes.some(({ kind }) => kind === 'run.finished')) this.#open.delete(runId)
    else this.#meet(runId, id)
    return id
  }

  #meet(runId: RunId, id: SubjectId | undefined): void {
    this.#open.set(runId, id)
    if (this.#open.size <= limits.RUNS_LIVE_MAX) return
    const [oldest = runId] = this.#open.keys()
    this.#open.delete(oldest)
  }

  #begun(first: string): SubjectId | undefined {
    if (!first.includes('"subject":')) return undefined
    const { subject } = JSON.parse(first) as { readonly subject?: unknown }
    if (typeof subject !== 'string') return undefined
    const id = this.idOf(subject)
    if (this.isErased(id)) throw ledgerError('ledger.subject_erased', {})
    return id
  }
}
