import type { RunId } from '../../core/index.js'
import type { CommitQueue } from '../commit/queue.js'
import type { QueuedItem } from '../commit/queued-item.js'
import type { Derived } from '../derived/derived.js'
import { addEntries, newDelta, type RunDelta, runChangesOf } from '../derived/run-records.js'
import { isOpenStatus } from '../derived/run-value.js'
import type { DerivableCommit } from '../derived/unflushed-records.js'
import type { Position } from '../item.js'
import type { StoreKeys } from '../keys.js'
import type { DurableCommit, RunRecord } from '../ledger-api.js'
import type { SubjectCipher } from '../subject/cipher.js'

interface Which {
  readonly durable?: boolean | undefined
}

/** Records of runs: as they are stored, with the entries that are queued. Owns nothing. */
export class RunReader {
  readonly #parts: RunReaderParts

  constructor(parts: RunReaderParts) {
    this.#parts = parts
  }

  /** Texts of a run with a subject are in clear, as far as its key is there. */
  run(runId: RunId, which: Which = {}): RunRecord | undefined {
    const { keys, cipher } = this.#parts
    const record = this.stored(runId, which)
    return record && cipher.openRecord(keys.run(runId), record)
  }

  /** A record whose texts are as they are stored. */
  stored(runId: RunId, { durable = false }: Which = {}): RunRecord | undefined {
    const { derived } = this.#parts
    return durable ? derived.run(runId) : derived.run(runId, this.#queuedOf(runId))
  }

  /** Whether there is a record. */
  has(runId: RunId): boolean {
    return this.#parts.derived.hasRun(runId, this.#queuedOf(runId))
  }

  #queuedOf(runId: RunId): RunDelta {
    const queued = newDelta()
    const position = this.#parts.durable()
    this.#parts.queue.eachPending((item, at) => {
      // The end of a flush reaches the derived records a moment before the queue.
      if (item.runId === runId && at > position) {
        addEntries(queued, item.entries, { runChanges: runChangesOf(item) })
      }
    })
    return queued
  }

  /** Those whose ids begin with `prefix`, by id. */
  async *all({ prefix = '', ...which }: Which & { prefix?: string }): AsyncGenerator<RunRecord> {
    for await (const runId of this.#parts.derived.runIds(this.#queued(which), prefix)) {
      const record = this.run(runId, which)
      if (record !== undefined) yield record
    }
  }

  /** Those that have not ended, by id. */
  *open(which: Which): Generator<RunRecord> {
    const runIds = new Set([...this.#parts.derived.openIds(), ...this.#queued(which)])
    for (const runId of [...runIds].sort()) {
      const record = this.run(runId, which)
      if (record !== undefined && isOpenStatus(record.status)) yield record
    }
  }

  #queued({ durable = false }: Which): ReadonlySet<RunId> {
    const queued = new Set<RunId>()
    if (!durable) this.#parts.queue.eachPending(({ runId }) => queued.add(runId))
    return queued
  }
}

interface RunReaderParts {
  readonly keys: StoreKeys
  readonly cipher: SubjectCipher
  readonly derived: Derived
  readonly queue: CommitQueue<QueuedItem>
  /** Up to where everything is on disk. */
  readonly durable: () => Position
}

/** What listeners hear of a commit: what the entries of runs with a subject say. */
export function toldCommit(commit: DerivableCommit): DurableCommit {
  const items = commit.items.map((item) => {
    const { runId, entries, plain = entries } = item
    return plain === entries ? item : { runId, entries: plain }
  })
  return { ...commit, items }
}
