import type { OpenWait } from '../../block/index.js'
import {
  canonicalize,
  type Json,
  limits,
  nextTurn,
  type RunId,
  runtimeError,
  sha256Hex,
  type TallyError
} from '../../core/index.js'
import type { Ledger, RunRecord, RunStatus } from '../../ledger/index.js'
import { waitsOf } from '../run/ended.js'
import { tagsOfRecord } from './run-tags.js'

/** One run, as far as lists find it. */
export interface IndexedRun {
  readonly id: RunId
  /** When it began, milliseconds. */
  readonly at: number
  readonly name: string
  readonly status: RunStatus
  /** Who began it: equal ones are one object. */
  readonly principal: Json
  readonly tags: readonly string[]
  /** In which it waited or waits for its turn; undefined: none. */
  readonly queue: string | undefined
  /** The run that waits for it; undefined: none. */
  readonly parent: string | undefined
  /** What a message can end, while it is parked. */
  readonly waits: readonly Pick<OpenWait, 'actions' | 'reason' | 'token'>[]
}

/** Whether the one who asks may know of a run. */
export type SeesRun = (run: IndexedRun) => boolean

const seesAll: SeesRun = () => true

type IndexedLedger = Pick<Ledger, 'run' | 'runs' | 'onCommit'>

/** By which tags a run is found now. */
type TagsOf = (record: RunRecord) => readonly string[] | Promise<readonly string[]>

/**
 * The runs of a ledger by when they began, which never changes, then by their ids.
 *
 * Owns: some 200 bytes for each run, from the first question until the ledger is closed. Does not
 * own: what is shown of a run, which is read and checked when it is.
 *
 * - Q1 It is made once, of all records; after that each question reads those of runs alone that
 *   commits have moved since the one before.
 * - Q2 A place in the order is of a run for good, so no cursor goes stale.
 * - Q5 What the one who asks may not know of is as if it were not there: it is in no list, ends no
 *   page and is no place (K14).
 */
export class RunIndex {
  readonly #ledger: IndexedLedger
  readonly #tagsOf: TagsOf
  readonly #byId = new Map<RunId, IndexedRun>()
  /** Oldest first. */
  #order: RunId[] = []
  readonly #counts = new Map<RunStatus, number>()
  readonly #principals = new Map<string, Json>()
  readonly #moved = new Set<RunId>()
  #isMade = false
  #refreshing: Promise<void> = Promise.resolve()

  constructor(ledger: IndexedLedger, tagsOf: TagsOf = tagsOfRecord) {
    this.#ledger = ledger
    this.#tagsOf = tagsOf
    // Before anything is read: what moves meanwhile is read again.
    ledger.onCommit(({ items }) => {
      for (const { runId } of items) this.#moved.add(runId)
    })
  }

  /** Takes in what became durable since. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.catch(() => undefined).then(() => this.#refresh())
    return this.#refreshing
  }

  /** How many runs have each status. */
  get counts(): ReadonlyMap<RunStatus, number> {
    return this.#counts
  }

  /** Runs in no order. */
  all(): Iterable<IndexedRun> {
    return this.#byId.values()
  }

  /** The runs behind a place, newest first; from the newest where there is none. */
  newest(place: RunPlace | undefined, sees: SeesRun = seesAll): Iterable<IndexedRun> {
    const from = place === undefined ? this.#order.length : this.#indexOf(place, sees)
    return this.#runs(from - 1, -1, sees)
  }

  /** The run of a place and those behind it, oldest first; from the oldest where there is none. */
  oldest(place: RunPlace | undefined, sees: SeesRun = seesAll): Iterable<IndexedRun> {
    return this.#runs(place === undefined ? 0 : this.#indexOf(place, sees), 1, sees)
  }

  *#runs(from: number, step: 1 | -1, sees: SeesRun): Generator<IndexedRun> {
    for (let index = from; index >= 0 && index < this.#order.length; index += step) {
      const run = this.#at(index)
      if (run !== undefined && sees(run)) yield run
    }
  }

  async #refresh(): Promise<void> {
    const fresh: RunId[] = []
    let count = 0
    try {
      for await (const record of this.#changed()) {
        const tags = await this.#tagsOf(record)
        const before = this.#byId.get(record.runId)
        if (before === undefined) fresh.push(record.runId)
        else this.#count(before.status, -1)
        this.#count(record.status, 1)
        this.#byId.set(record.runId, this.#indexed(record, tags))
        count += 1
        if (count % RUNS_IN_TURN === 0) await nextTurn()
      }
      this.#isMade = true
    } finally {
      // Also where a record could not be read: those before it are not new the next time.
      this.#insert(fresh)
    }
  }

  #indexed(record: RunRecord, tags: readonly string[]): IndexedRun {
    const { runId: id, status, started } = record
    const { name, at, principal = null, ...began } = started as unknown as Began
    const { queue, parent } = began
    const text = canonicalize(principal)
    const known = this.#principals.get(text) ?? principal
    this.#principals.set(text, known)
    const waits = waitsOf(record).map(({ actions, reason, token }) => ({ actions, reason, token }))
    return { id, at, name, status, principal: known, tags, queue: queue?.name, parent, waits }
  }

  #insert(fresh: readonly RunId[]): void {
    if (fresh.length > INSERTED_ONE_BY_ONE_MAX) {
      this.#order = [...this.#order, ...fresh].sort((one, other) => this.#compare(one, other))
    } else for (const id of fresh) this.#order.splice(this.#lowerBound(id), 0, id)
  }

  async *#changed(): AsyncGenerator<RunRecord> {
    const ledger = this.#ledger
    if (!this.#isMade) yield* ledger.runs({ durable: true })
    for (const id of this.#moved) {
      const record = ledger.run(id, { durable: true })
      this.#moved.delete(id)
      if (record !== undefined) yield record
    }
  }

  #count(status: RunStatus, change: 1 | -1): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + change)
  }

  #at(index: number): IndexedRun | undefined {
    const id = this.#order[index]
    return id === undefined ? undefined : this.#byId.get(id)
  }

  /** Where the run of a place stands. Throws `service.invalid_params`. */
  #indexOf({ at, mark }: RunPlace, sees: SeesRun): number {
    let index = this.#firstFrom((run) => run.at >= at)
    for (let run = this.#at(index); run?.at === at; run = this.#at(index)) {
      if (sees(run) && markOf(run.id) === mark) return index
      index += 1
    }
    throw invalidCursor()
  }

  #lowerBound(id: RunId): number {
    return this.#firstFrom((run) => this.#compare(run.id, id) >= 0)
  }

  #firstFrom(isBehind: (run: IndexedRun) => boolean): number {
    let [low, high] = [0, this.#order.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const run = this.#at(middle)
      if (run !== undefined && isBehind(run)) high = middle
      else low = middle + 1
    }
    return low
  }

  #compare(one: RunId, other: RunId): number {
    const difference = (this.#byId.get(one)?.at ?? 0) - (this.#byId.get(other)?.at ?? 0)
    if (difference !== 0) return difference
    return one < other ? -1 : Number(one > other)
  }
}

/** Records that are read before the loop turns. */
const RUNS_IN_TURN = 64
/** More new runs than this are sorted in together. */
const INSERTED_ONE_BY_ONE_MAX = 64

interface Began {
  readonly name: string
  readonly at: number
  readonly principal?: Json
  readonly queue?: { readonly name: string }
  readonly parent?: string
}

/** Where a run stands in the order, without its id: ids may hold what is not shown. */
export interface RunPlace {
  readonly at: number
  readonly mark: string
}

export function placeOf({ id, at }: Pick<IndexedRun, 'id' | 'at'>): RunPlace {
  return { at, mark: markOf(id) }
}

export function isPlaceOf({ at, mark }: RunPlace, run: IndexedRun): boolean {
  return run.at === at && markOf(run.id) === mark
}

export function encodePlace({ at, mark }: RunPlace): string {
  return `${at}.${mark}`
}

/** Reads a place back. Throws `service.invalid_params`. */
export function parsePlace(text: string): RunPlace {
  const [, at, mark = ''] = /^(0|-?[1-9]\d{0,15})\.([0-9a-f]{16})$/.exec(text) ?? []
  if (at === undefined || !Number.isSafeInteger(Number(at))) throw invalidCursor()
  return { at: Number(at), mark }
}

export function invalidCursor(): TallyError {
  const problem = 'cursor is none that this ledger has given'
  return runtimeError('service.invalid_params', { method: 'a list of pages', problem })
}

const MARK_LENGTH = 16

/** What stands for an id or token in a cursor. */
export function markOf(text: string): string {
  return sha256Hex(text).slice(0, MARK_LENGTH)
}

/**
 * The first runs that hold for `isWanted`, as many as a page has, and the place after which the
 * next page begins. A page whose search has looked at many in vain ends early (Q1).
 */
export function someOf(
  runs: Iterable<IndexedRun>,
  limit: number,
  isWanted: (run: IndexedRun) => boolean
): { readonly found: readonly IndexedRun[]; readonly next: RunPlace | undefined } {
  const found: IndexedRun[] = []
  let last: IndexedRun | undefined
  let lookedAt = 0
  for (const run of runs) {
    const isFull = found.length === limit || lookedAt === limits.RUNS_LOOKED_AT_MAX
    if (isFull && last !== undefined) return { found, next: placeOf(last) }
    if (isWanted(run)) found.push(run)
    last = run
    lookedAt += 1
  }
  return { found, next: undefined }
}
