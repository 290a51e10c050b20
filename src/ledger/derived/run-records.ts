import { type Json, type JsonObject, type RunId, shownText, TallyError } from '../../core/index.js'
import type { JournalItem } from '../item.js'
import type { StoreKeys } from '../keys.js'
import type { RunRecord, RunStatus } from '../ledger-api.js'
import type { Store } from '../stores/port.js'
import type { RecordForm } from './record-form.js'

/** A commit that holds entries of a run: its number, and the number of the first such entry. */
export type RunCommit = readonly [commitSeq: number, firstEntry: number]

/** What a stretch of commits adds to a run. */
export interface RunDelta {
  /** Entries of the run before them. */
  readonly entriesBefore: number
  entries: number
  readonly visits: RunCommit[]
  started: RunChangeEntry | undefined
  last: RunChangeEntry | undefined
}

/**
 * An entry about the run itself. Kept as text: as a rule it is not read before it is written, and
 * parsed it would live as long as the stretch does.
 */
export interface RunChangeEntry {
  readonly text: string
  readonly kind: string
  readonly number: Json
  readonly status: Json
  readonly at: Json
}

/** The commits to find the journal of a stored run in (L5: in blocks). */
export interface JournalPlaces {
  readonly entries: number
  /** Full blocks, each a value of its own. */
  readonly blocks: number
  /** Visits that fill no block yet. */
  readonly visits: readonly RunCommit[]
  /** Commit records that the value covers. */
  readonly upTo: number
}

/** A run as it is stored. */
export interface StoredRun extends JournalPlaces {
  readonly record: RunRecord | undefined
}

/** What is read of a stored run without the texts of its entries: a definition is long. */
export interface StoredPlaces extends JournalPlaces {
  readonly status: Json
}

/** Stored runs that may be open, and where their journals stand. */
export type OpenPlaces = ReadonlyMap<RunId, StoredPlaces>

export const RUN_COMMITS_IN_BLOCK = 256
const noPlaces: StoredPlaces = { status: null, entries: 0, blocks: 0, visits: [], upTo: 0 }
const noRun: StoredRun = { record: undefined, entries: 0, blocks: 0, visits: [], upTo: 0 }
const statuses: ReadonlySet<unknown> = new Set<RunStatus>([
  'running',
  'waiting',
  'done',
  'failed',
  'cancelled'
])

export function newDelta(entriesBefore = 0): RunDelta {
  return { entriesBefore, entries: 0, visits: [], started: undefined, last: undefined }
}

/** The entries of one item that are about the run itself. */
export function runChangesIn(entries: readonly string[]): readonly RunChangeEntry[] {
  const runChanges: RunChangeEntry[] = []
  for (const text of entries) {
    // Only spares a parse: an entry that holds the text for another reason is parsed and left out.
    if (!text.includes('"k":"run.')) continue
    const { k: kind, n = null, status = null, at: time = null } = JSON.parse(text) as JsonObject
    if (typeof kind !== 'string' || !kind.startsWith('run.')) continue
    runChanges.push({ text, kind, number: n, status, at: time })
  }
  return runChanges
}

/**
 * {@link runChangesIn} the entries of an item, which are not looked through when it says itself.
 */
export function runChangesOf({
  entries,
  runChanges
}: {
  readonly entries: readonly string[]
  readonly runChanges?: JournalItem['runChanges'] | undefined
}): readonly RunChangeEntry[] {
  if (runChanges === undefined) return runChangesIn(entries)
  return runChanges.map(({ index, kind, number, status, at }) => ({
    text: entries[index] ?? '',
    kind,
    number,
    status,
    at
  }))
}

/** Whether a run begins with this entry: then nothing of it is stored yet. */
export function beginsRun(runChanges: RunChangeEntry | undefined): boolean {
  return runChanges?.kind === 'run.started' && runChanges.number === 0
}

/** Adds the entries of one item; `seq` is the commit that holds them, or undefined while queued. */
export function addEntries(
  delta: RunDelta,
  entries: readonly string[],
  {
    seq,
    runChanges = runChangesIn(entries)
  }: { readonly seq?: number; readonly runChanges?: readonly RunChangeEntry[] } = {}
): void {
  if (seq !== undefined && entries.length > 0 && delta.visits.at(-1)?.[0] !== seq) {
    delta.visits.push([seq, delta.entriesBefore + delta.entries])
  }
  delta.entries += entries.length
  for (const one of runChanges) {
    if (one.kind === 'run.started') delta.started = one
    delta.last = one
  }
}

/** Later entries of a run: how many, and the first and the last that are about the run itself. */
export interface RunChange {
  readonly entries: number
  readonly started: JsonObject | undefined
  readonly last: JsonObject | undefined
}

/** A delta, read. */
export function changeOf({ entries, started, last }: RunDelta): RunChange {
  const read = parsed(started)
  return { entries, started: read, last: last === started ? read : parsed(last) }
}

function parsed(runChanges: RunChangeEntry | undefined): JsonObject | undefined {
  return runChanges === undefined ? undefined : (JSON.parse(runChanges.text) as JsonObject)
}

/** A record with later entries folded in. */
export function foldRecord(
  runId: RunId,
  base: RunRecord | undefined,
  entriesBefore: number,
  change: RunChange
): RunRecord | undefined {
  const started = base?.started ?? change.started
  const last = change.last ?? base?.last
  if (started === undefined || last === undefined) return undefined
  const status = last['status']
  const at = last['at']
  return {
    runId,
    status: statuses.has(status) ? (status as RunStatus) : (base?.status ?? 'running'),
    started,
    last,
    entries: entriesBefore + change.entries,
    updatedAt: typeof at === 'number' ? at : (base?.updatedAt ?? 0)
  }
}

/** What a stored run and later changes come to. */
export function foldStored(
  runId: RunId,
  stored: StoredRun,
  deltas: readonly RunDelta[]
): RunRecord | undefined {
  let { record, entries } = stored
  for (const delta of deltas) {
    record = foldRecord(runId, record, entries, changeOf(delta))
    entries += delta.entries
  }
  return record
}

/** Run records as derived values (L1). */
export class RunRecords {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #form: RecordForm
  /** Stored runs that may be open, with what opening has read of them until that is used. */
  readonly #open: Map<RunId, StoredPlaces | undefined>

  /** `open`: the stored runs that may be open, as opening has read them. */
  constructor(store: Store, keys: StoreKeys, form: RecordForm, open: OpenPlaces = new Map()) {
    this.#store = store
    this.#keys = keys
    this.#form = form
    this.#open = new Map(open)
  }

  stored(runId: RunId): StoredRun {
    const key = this.#keys.run(runId)
    const value = this.#store.get(key)
    return value === undefined
      ? noRun
      : decodeRun(key, runId, this.#form.body(key, value).toString())
  }

  places(runId: RunId): StoredPlaces {
    const known = this.#open.get(runId)
    if (known !== undefined) {
      this.#open.set(runId, undefined)
      return known
    }
    const key = this.#keys.run(runId)
    const value = this.#store.get(key)
    return value === undefined ? noPlaces : decodePlaces(key, runId, this.#form.body(key, value))
  }

  /** Ids of all stored runs that begin with `prefix`, sorted. */
  async *ids(prefix: string): AsyncGenerator<RunId> {
    const range = this.#keys.runs(prefix)
    for await (const [key] of this.#store.entries(range)) yield this.#keys.runId(key)
  }

  /** Ids of stored runs that may be open, as far as is seen without reading their records. */
  openIds(): readonly RunId[] {
    return [...this.#open.keys()]
  }

  /** Visits of one full block. */
  block(runId: RunId, block: number): readonly RunCommit[] {
    const key = this.#keys.visits(runId, block)
    const value = this.#store.get(key)
    if (value === undefined) {
      throw new TallyError('ledger.corrupt', { key, problem: 'the value is missing' })
    }
    return JSON.parse(this.#form.body(key, value).toString()) as RunCommit[]
  }

  /**
   * What to write for a run after a stretch of commits, and the value that it takes the place of.
   */
  puts(
    runId: RunId,
    delta: RunDelta,
    upTo: number
  ): {
    readonly puts: readonly (readonly [string, Uint8Array])[]
    readonly replaced: Uint8Array | undefined
  } {
    const runKey = this.#keys.run(runId)
    const wrap = (key: string, body: string) => this.#form.wrap(key, body, upTo)
    if (delta.last === undefined || isOpenStatus(delta.last.status))
      this.#open.set(runId, undefined)
    else this.#open.delete(runId)
    const fresh = wholeRun(delta, upTo)
    if (fresh !== undefined) return { puts: [[runKey, wrap(runKey, fresh)]], replaced: undefined }
    const replaced = this.#store.get(runKey)
    const before =
      replaced === undefined
        ? noRun
        : decodeRun(runKey, runId, this.#form.body(runKey, replaced).toString())
    const record = foldRecord(runId, before.record, before.entries, changeOf(delta))
    const visits = [...before.visits, ...delta.visits]
    const puts: (readonly [string, Uint8Array])[] = []
    let blocks = before.blocks
    while (visits.length > RUN_COMMITS_IN_BLOCK) {
      const key = this.#keys.visits(runId, blocks)
      puts.push([key, wrap(key, JSON.stringify(visits.splice(0, RUN_COMMITS_IN_BLOCK)))])
      blocks += 1
    }
    const entries = before.entries + delta.entries
    puts.push([runKey, wrap(runKey, encodeRun({ record, entries, blocks, visits, upTo }))])
    return { puts, replaced }
  }
}

/**
 * The value of a run that begins within the stretch, joined from the entries' own texts: the same
 * as {@link encodeRun} makes. Undefined where it could differ.
 */
function wholeRun({ started, last, entries, visits }: RunDelta, upTo: number): string | undefined {
  if (started === undefined || last === undefined || !beginsRun(started)) return undefined
  if (visits.length > RUN_COMMITS_IN_BLOCK || typeof last.at !== 'number') return undefined
  if (!statuses.has(last.status)) return undefined
  if (indexLikeKey.test(started.text) || indexLikeKey.test(last.text)) return undefined
  const lastText = last === started ? 'null' : last.text
  return (
    `{"blocks":0,"entries":${entries},"last":${lastText},"started":${started.text},` +
    `"status":"${shownText(last.status)}","upTo":${upTo},"updatedAt":${last.at},` +
    `"visits":[${visits.map(([seq, entry]) => `[${seq},${entry}]`).join(',')}]}`
  )
}

export function isOpenStatus(status: Json | undefined): boolean {
  return status === 'running' || status === 'waiting'
}

const statusMember = '"status":"'
const openStatuses = ['running"', 'waiting"'].map((status) => statusMember + status)
/** At the end of a value, its status stands in as many bytes as a rule. */
const END_BYTES = 256

/** Whether the value of a run is of an open one: its status stands behind all texts of entries. */
export function mayBeOpen(body: Buffer): boolean {
  const end = endText(body)
  return end !== undefined && openStatuses.some((status) => end.startsWith(status))
}

/** A value from its last status on: of what is no text of an entry, each character is a byte. */
function endText(body: Buffer): string | undefined {
  const end = body.toString('latin1', Math.max(0, body.length - END_BYTES))
  const near = end.lastIndexOf(statusMember)
  if (near !== -1) return end.slice(near)
  const at = body.lastIndexOf(statusMember)
  return at === -1 ? undefined : body.toString('latin1', at)
}

/** What may be a key that a parsed object puts before all others, whatever the text says. */
const indexLikeKey = /"(?:0|[1-9]\d*)":/

/** The last entry is left out while it is the first: a definition is long. */
function encodeRun({ record, entries, blocks, visits, upTo }: StoredRun): string {
  return JSON.stringify({
    blocks,
    entries,
    last: record === undefined || record.last === record.started ? null : record.last,
    started: record?.started ?? null,
    status: record?.status ?? null,
    upTo,
    updatedAt: record?.updatedAt ?? null,
    visits
  })
}

const NUMBERS_BYTES_MAX = 64
const leadingNumbers = /^\{"blocks":(\d+),"entries":(\d+),"/

/**
 * Reads where the journal of a stored run stands: the numbers before and behind the texts of its
 * entries. Throws as {@link decodeRun} does.
 */
export function decodePlaces(key: string, runId: RunId, body: Buffer): StoredPlaces {
  const [, blocks, entries] =
    leadingNumbers.exec(body.toString('latin1', 0, NUMBERS_BYTES_MAX)) ?? []
  const rest = blocks === undefined ? undefined : endOf(body)
  if (rest !== undefined) return { ...rest, blocks: Number(blocks), entries: Number(entries) }
  const stored = decodeRun(key, runId, body.toString())
  return { ...stored, status: stored.record?.status ?? null }
}

function endOf(body: Buffer): Pick<StoredPlaces, 'status' | 'upTo' | 'visits'> | undefined {
  const end = endText(body)
  if (end === undefined) return undefined
  try {
    // Behind a status within an entry's text stands the end of that entry, which does not parse.
    const value: unknown = JSON.parse(`{${end}`)
    const { status = null, upTo, visits } = value as Partial<StoredPlaces>
    if (typeof upTo !== 'number' || !Array.isArray(visits)) return undefined
    return { status, upTo, visits }
  } catch {
    return undefined
  }
}

/** Reads a stored run; throws `ledger.corrupt` when it is malformed. */
export function decodeRun(key: string, runId: RunId, text: string): StoredRun {
  const value = JSON.parse(text) as {
    readonly blocks: number
    readonly entries: number
    readonly last: JsonObject | null
    readonly started: JsonObject | null
    readonly status: Json
    readonly upTo: number
    readonly updatedAt: number | null
    readonly visits: readonly RunCommit[]
  }
  const { blocks, entries, visits, last, started, status, upTo, updatedAt } = value
  if (!Array.isArray(visits)) {
    throw new TallyError('ledger.corrupt', { key, problem: 'the run record is malformed' })
  }
  const record =
    started === null
      ? undefined
      : {
          runId,
          status: status as RunStatus,
          started,
          last: last ?? started,
          entries,
          updatedAt: updatedAt ?? 0
        }
  return { record, entries, blocks, visits, upTo }
}
