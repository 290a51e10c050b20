import { type Hash, limits, nextTurn, type RunId } from '../../core/index.js'
import { unwrapValue } from '../envelope.js'
import { parseRecord, type RecordItem } from '../record/record.js'
import type { OnArchiveProgress } from './archiving-api.js'
import type { ArchivingParts } from './archiving-parts.js'
import type { Boundary } from './boundary.js'

/** Runs about which is remembered whether they stay. */
const KNOWN_RUNS_MAX = 65_536

/**
 * Removes what archives have from a store, in bounded batches, each of which leaves a ledger that
 * verifies. What is removed depends on the boundary and on records that stay: done again after a
 * crash it comes to the same.
 *
 * A commit record stays, whole, while one of its runs is open, goes on behind the boundary, or is
 * held by the caller.
 */
export class Sweep {
  readonly #parts: ArchivingParts
  readonly #boundary: Boundary
  readonly #isHeld: (runId: RunId) => boolean
  readonly #open: ReadonlySet<RunId>
  readonly #known = new Map<RunId, boolean>()
  /** Bodies that are values of their own, and that something which stays names. */
  readonly #named = new Set<Hash>()
  /** Commits from here on were not looked through for such names. */
  #lookedTo = 0

  constructor(parts: ArchivingParts, boundary: Boundary, isHeld: (runId: RunId) => boolean) {
    this.#parts = parts
    this.#boundary = boundary
    this.#isHeld = isHeld
    this.#open = new Set([...parts.derived.openRuns()].map(([runId]) => runId))
  }

  async run(onProgress: OnArchiveProgress): Promise<void> {
    const removed = await this.#look()
    let [batch, done]: [Removed[], number] = [[], 0]
    for await (const one of this.#removed()) {
      batch.push(one)
      done += 1
      if (batch.length < limits.ARCHIVE_REMOVED_AT_ONCE) continue
      await this.#remove(batch)
      batch = []
      onProgress({ phase: 'removing', done, total: removed })
    }
    await this.#remove(batch)
    await this.#setAside()
    onProgress({ phase: 'removing', done, total: removed })
  }

  /** Sets the records of runs aside of which no commit is needed here any more. */
  async #setAside(): Promise<void> {
    const { store, keys, derived, behind } = this.#parts
    let batch: RunId[] = []
    const flush = () => {
      const runIds = batch
      batch = []
      return behind(() => derived.setAside(runIds))
    }
    for await (const [key] of store.entries(keys.runs())) {
      const runId = keys.runId(key)
      if (this.#stays(runId)) continue
      batch.push(runId)
      if (batch.length >= limits.ARCHIVE_REMOVED_AT_ONCE) await flush()
    }
    if (batch.length > 0) await flush()
  }

  /** Counts what is to be removed, and notes which bodies stay. */
  async #look(): Promise<number> {
    let removed = 0
    let hasLarge = false
    for await (const { items, isKept } of this.#records()) {
      if (isKept) this.#name(items)
      else {
        removed += 1
        hasLarge ||= items.some(({ largeBlobs }) => largeBlobs.length > 0)
      }
    }
    this.#lookedTo = hasLarge ? this.#boundary.commits : Number.MAX_SAFE_INTEGER
    if (hasLarge) await this.#lookBehind()
    return removed
  }

  /** Notes the bodies that commits name which came since it was looked. */
  async #lookBehind(): Promise<void> {
    const { store, keys, commits } = this.#parts
    const to = commits()
    if (this.#lookedTo >= to) return
    for await (const [key, value] of store.entries(keys.commits(this.#lookedTo, to))) {
      this.#name(parseRecord(key, unwrapValue(key, value)).items)
    }
    this.#lookedTo = to
  }

  #name(items: readonly RecordItem[]): void {
    for (const { largeBlobs } of items) for (const hash of largeBlobs) this.#named.add(hash)
  }

  async *#removed(): AsyncGenerator<Removed> {
    for await (const { key, items, isKept } of this.#records()) {
      if (!isKept) yield { key, blobs: items.flatMap(({ largeBlobs }) => largeBlobs) }
    }
  }

  async *#records(): AsyncGenerator<{
    readonly key: string
    readonly items: readonly RecordItem[]
    readonly isKept: boolean
  }> {
    const { store, keys } = this.#parts
    let read = 0
    for await (const [key, value] of store.entries(keys.commits(0, this.#boundary.commits))) {
      const { items } = parseRecord(key, unwrapValue(key, value))
      yield { key, items, isKept: items.some(({ runId }) => this.#stays(runId)) }
      read += 1
      if (read % 64 === 0) await nextTurn()
    }
  }

  #stays(runId: RunId): boolean {
    const known = this.#known.get(runId)
    if (known !== undefined) return known
    const stays = this.#open.has(runId) || this.#isHeld(runId) || this.#goesOn(runId)
    if (this.#known.size >= KNOWN_RUNS_MAX) this.#known.clear()
    this.#known.set(runId, stays)
    return stays
  }

  #goesOn(runId: RunId): boolean {
    let last = -1
    for (const [seq] of this.#parts.derived.visits(runId)) last = seq
    return last >= this.#boundary.commits
  }

  async #remove(batch: readonly Removed[]): Promise<void> {
    if (batch.length === 0) return
    const { store, keys } = this.#parts
    const blobs = batch.flatMap((one) => one.blobs)
    const commits = batch.map(({ key }) => key)
    if (blobs.length === 0) {
      await this.#parts.behind(() => store.commit([{ puts: [], deletes: commits }]))
      return
    }
    // A commit under way could name a body that is about to be removed.
    await this.#parts.hold()
    try {
      await this.#lookBehind()
      const unnamed = blobs.filter((hash) => !this.#named.has(hash)).map((hash) => keys.blob(hash))
      await this.#parts.behind(() =>
        store.commit([{ puts: [], deletes: [...commits, ...new Set(unnamed)] }])
      )
    } finally {
      this.#parts.release()
    }
  }
}

interface Removed {
  readonly key: string
  readonly blobs: readonly Hash[]
}
