import { type RunId, sha256 } from '../../core/index.js'
import type { RunCommit } from '../derived/run-value.js'
import type { RunRecord, RunStatus } from '../ledger-api.js'
import { canonicalOfParsed } from '../receipt/parse.js'
import { IdTable } from './id-table.js'

const FIRST_ROWS = 256
const DIGEST_BYTES = 32
/** Runs whose number is kept by id; a look-up in the table costs a hash. */
const KNOWN_MAX = 1_024

/** What derived records say of a run. */
export interface DerivedRun {
  readonly entries: number
  /** Of {@link recordDigest}; undefined while the run has no record. */
  readonly digest: string | undefined
  /** {@link addRunCommit} over the commits that hold its entries. */
  readonly visits: number
}

/**
 * What a verification remembers of each run: how many entries it has, and a digest of its record as
 * of the watermark. About 200 bytes a run outside of the JavaScript heap, whatever its record
 * holds.
 */
export class RunTable {
  readonly #ids = new IdTable()
  readonly #known = new Map<RunId, number>()
  #room = FIRST_ROWS
  #next = new Uint32Array(FIRST_ROWS)
  #derived = new Uint32Array(FIRST_ROWS)
  #statuses = new Uint8Array(FIRST_ROWS)
  #updatedAt = new Float64Array(FIRST_ROWS)
  /** Hash of the `run.started` entry. */
  #started = Buffer.alloc(FIRST_ROWS * DIGEST_BYTES)
  #records = Buffer.alloc(FIRST_ROWS * DIGEST_BYTES)
  #visits = new Float64Array(FIRST_ROWS)
  /** One more than the last of those commits. */
  #lastVisits = new Float64Array(FIRST_ROWS)
  #derivedRuns = 0

  get size(): number {
    return this.#ids.size
  }

  /** Runs of which derived records cover an entry. */
  get derivedRuns(): number {
    return this.#derivedRuns
  }

  /** The number of a run, under which the other methods know it. */
  row(runId: RunId): number {
    const known = this.#known.get(runId)
    if (known !== undefined) return known
    const row = this.#ids.add(runId)
    if (row >= this.#room) this.#grow()
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    this.#known.set(runId, row)
    return row
  }

  /** Number that the next entry of a run must have. */
  next(row: number): number {
    return this.#next[row] ?? 0
  }

  /** Counts an entry; `visit` is its commit, if derived records cover that. */
  count(row: number, visit: number | undefined): void {
    const next = this.next(row) + 1
    this.#next[row] = next
    if (visit === undefined) return
    if (this.#lastVisits[row] !== visit + 1) {
      this.#lastVisits[row] = visit + 1
      this.#visits[row] = addRunCommit(this.#visits[row] ?? 0, [visit, next - 1])
    }
    if (this.#derived[row] === 0) this.#derivedRuns += 1
    this.#derived[row] = next
  }

  /** Takes note of an entry about the run itself, as `foldRecord` does. */
  fold(
    row: number,
    entry: { readonly text: string; readonly kind: string; status: unknown; at: unknown }
  ): void {
    const { text, kind, status, at } = entry
    const place = row * DIGEST_BYTES
    const hasStarted = (this.#statuses[row] ?? 0) !== 0
    if (!hasStarted && kind !== 'run.started') return
    const last = sha256(text)
    if (!hasStarted) {
      last.copy(this.#started, place)
      this.#statuses[row] = statuses.indexOf('running') + 1
    }
    const known = (statuses as readonly unknown[]).indexOf(status)
    if (known >= 0) this.#statuses[row] = known + 1
    if (typeof at === 'number') this.#updatedAt[row] = at
    digestOf({
      status: statuses[(this.#statuses[row] ?? 0) - 1] ?? 'running',
      updatedAt: this.#updatedAt[row] ?? 0,
      started: this.#started.subarray(place, place + DIGEST_BYTES),
      last
    }).copy(this.#records, place)
  }

  derived(runId: RunId): DerivedRun | undefined {
    const row = this.#ids.find(runId)
    if (row === undefined) return undefined
    const place = row * DIGEST_BYTES
    const hasRecord = this.#statuses[row] !== 0
    const digest = this.#records.toString('hex', place, place + DIGEST_BYTES)
    return {
      entries: this.#derived[row] ?? 0,
      digest: hasRecord ? digest : undefined,
      visits: this.#visits[row] ?? 0
    }
  }

  #grow(): void {
    this.#room *= 2
    this.#next = copied(this.#next, new Uint32Array(this.#room))
    this.#derived = copied(this.#derived, new Uint32Array(this.#room))
    this.#statuses = copied(this.#statuses, new Uint8Array(this.#room))
    this.#updatedAt = copied(this.#updatedAt, new Float64Array(this.#room))
    this.#visits = copied(this.#visits, new Float64Array(this.#room))
    this.#lastVisits = copied(this.#lastVisits, new Float64Array(this.#room))
    this.#started = copied(this.#started, Buffer.alloc(this.#room * DIGEST_BYTES))
    this.#records = copied(this.#records, Buffer.alloc(this.#room * DIGEST_BYTES))
  }
}

const statuses: readonly RunStatus[] = ['running', 'waiting', 'done', 'failed', 'cancelled']

/**
 * A sum over the commits that hold entries of a run, below 2^40: what a verification keeps for each
 * run, instead of all of them. Enough against damage; nothing is found by it.
 */
export function addRunCommit(sum: number, [commitSeq, firstEntry]: RunCommit): number {
  const mixed = Math.imul(commitSeq + 1, 0x2c1b3c6d) ^ Math.imul(firstEntry + 1, 0x297a2d39)
  return (sum * 31 + (mixed >>> 0) + 1) % 2 ** 40
}

/** The digest of a record that was read from the store; undefined where there is none. */
export function recordDigest(record: RunRecord | undefined): string | undefined {
  if (record === undefined) return undefined
  const { status, updatedAt, started, last } = record
  const hash = (value: RunRecord['last']) => sha256(canonicalOfParsed(value))
  return digestOf({ status, updatedAt, started: hash(started), last: hash(last) }).toString('hex')
}

function digestOf(of: {
  readonly status: RunStatus
  readonly updatedAt: number
  readonly started: Buffer
  readonly last: Buffer
}): Buffer {
  const { status, updatedAt, started, last } = of
  return sha256(Buffer.concat([Buffer.from(`${status} ${updatedAt} `), started, last]))
}

function copied<Values extends Uint8Array | Uint32Array | Float64Array>(
  from: Values,
  to: Values
): Values {
  to.set(from)
  return to
}
