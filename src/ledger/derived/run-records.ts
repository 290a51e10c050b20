import {
  assert,
  type Json,
  type JsonObject,
  ledgerError,
  type RunId,
  shownText
} from '../../core/index.js'
import type { JournalItem } from '../item.js'
import type { StoreKeys } from '../keys.js'
import type { RunRecord, RunStatus } from '../ledger-api.js'
import type { Store } from '../stores/port.js'
import type { ArchivedRuns } from './archived-runs.js'
import type { RecordForm } from './record-form.js'
import {
  decodePlaces,
  decodeRun,
  decodeTexts,
  encodeRun,
  encodeTexts,
  isOpenStatus,
  type JournalPlaces,
  type RunCommit,
  type StoredPlaces,
  type StoredRun,
  type StoredTexts,
  textsWithLast
} from './run-value.js'

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
  readonly #archived: ArchivedRuns

  constructor(parts: {
    readonly store: Store
    readonly keys: StoreKeys
    readonly form: RecordForm
    readonly archived: ArchivedRuns
    /** The stored runs that may be open, as opening has read them. */
    readonly open?: OpenPlaces | undefined
  }) {
    const { store, keys, form, archived, open = new Map() } = parts
    this.#store = store
    this.#keys = keys
    this.#form = form
    this.#archived = archived
    this.#open = new Map(open)
  }

  stored(runId: RunId): StoredRun {
    const body = this.#body(runId)
    if (body === undefined) return noRun
    return decodeRun(this.#keys.run(runId), runId, body.toString())
  }

  /** Whether anything is stored of a run. */
  has(runId: RunId): boolean {
    return this.#body(runId) !== undefined
  }

  #body(runId: RunId): Buffer | undefined {
    const key = this.#keys.run(runId)
    const value = this.#store.get(key)
    return value === undefined ? this.#archived.body(runId) : this.#form.body(key, value)
  }

  places(runId: RunId): StoredPlaces {
    const known = this.#open.get(runId)
    if (known !== undefined) {
      this.#open.set(runId, undefined)
      return known
    }
    const body = this.#body(runId)
    return body === undefined ? noPlaces : decodePlaces(this.#keys.run(runId), runId, body)
  }

  /** Ids of all stored runs that begin with `prefix`, sorted. */
  async *ids(prefix: string): AsyncGenerator<RunId> {
    const range = this.#keys.runs(prefix)
    const archived = this.#archived.ids(prefix)
    let next = await archived.next()
    for await (const [key] of this.#store.entries(range)) {
      const runId = this.#keys.runId(key)
      for (; next.done !== true && next.value < runId; next = await archived.next()) {
        yield next.value
      }
      yield runId
    }
    for (; next.done !== true; next = await archived.next()) yield next.value
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
      throw ledgerError('ledger.corrupt', { key, problem: 'the value is missing' })
    }
    return JSON.parse(this.#form.body(key, value).toString()) as RunCommit[]
  }

  /**
   * What to write for a run after a stretch of commits, and the value that it takes the place of.
   * A run that was set aside has ended, and gets no more entries.
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
    const wrap = (key: string, body: string | Buffer) => this.#form.wrap(key, body, upTo)
    if (delta.last === undefined || isOpenStatus(delta.last.status))
      this.#open.set(runId, undefined)
    else this.#open.delete(runId)
    const fresh = wholeRun(delta, upTo)
    if (fresh !== undefined) return { puts: [[runKey, wrap(runKey, fresh)]], replaced: undefined }
    const replaced = this.#store.get(runKey)
    assert(replaced !== undefined || this.#archived.body(runId) === undefined, 'it has ended')
    const body = replaced === undefined ? undefined : this.#form.body(runKey, replaced)
    const { before, encode } = this.#continued({ key: runKey, runId, body, delta })
    const visits = [...before.visits, ...delta.visits]
    const puts: (readonly [string, Uint8Array])[] = []
    let blocks = before.blocks
    while (visits.length > RUN_COMMITS_IN_BLOCK) {
      const key = this.#keys.visits(runId, blocks)
      puts.push([key, wrap(key, JSON.stringify(visits.splice(0, RUN_COMMITS_IN_BLOCK)))])
      blocks += 1
    }
    const entries = before.entries + delta.entries
    puts.push([runKey, wrap(runKey, encode({ entries, blocks, visits, upTo }))])
    return { puts, replaced }
  }

  /** Where a stored run stands, and how it is written with later entries. */
  #continued({
    key,
    runId,
    body,
    delta
  }: {
    readonly key: string
    readonly runId: RunId
    readonly body: Buffer | undefined
    readonly delta: RunDelta
  }): {
    readonly before: JournalPlaces
    readonly encode: (places: JournalPlaces) => string | Buffer
  } {
    const texts = body === undefined ? undefined : continuedTexts(body, delta)
    if (texts !== undefined) {
      return { before: texts, encode: (places) => encodeTexts({ ...texts, ...places }) }
    }
    const before = body === undefined ? noRun : decodeRun(key, runId, body.toString())
    const record = foldRecord(runId, before.record, before.entries, changeOf(delta))
    return { before, encode: (places) => encodeRun({ record, ...places }) }
  }
}

/**
 * The value of a run that begins within the stretch, joined from the entries' own texts: the same
 * as {@link encodeRun} makes. Undefined where it could differ.
 */
function wholeRun({ started, last, entries, visits }: RunDelta, upTo: number): string | undefined {
  if (started === undefined || last === undefined || !beginsRun(started)) return undefined
  if (visits.length > RUN_COMMITS_IN_BLOCK || typeof last.at !== 'number') return undefined
  if (!isWrittenAsItIs(last) || indexLikeKey.test(started.text)) return undefined
  const lastText = last === started ? 'null' : last.text
  return (
    `{"blocks":0,"entries":${entries},"last":${lastText},"started":${started.text},` +
    `"status":"${shownText(last.status)}","upTo":${upTo},"updatedAt":${last.at},` +
    `"visits":[${visits.map(([seq, entry]) => `[${seq},${entry}]`).join(',')}]}`
  )
}

/**
 * A stored run as the later entries leave it, whose first entry, a long one, is not parsed: the
 * same as {@link encodeRun} makes of the parsed. Undefined where it could differ.
 */
function continuedTexts(body: Buffer, { last }: RunDelta): StoredTexts | undefined {
  const stored = decodeTexts(body)
  if (stored === undefined || last === undefined) return stored
  if (typeof last.at !== 'number' || !isWrittenAsItIs(last)) return undefined
  const texts = textsWithLast(stored.texts, last.text)
  return texts && { ...stored, status: last.status, updatedAt: last.at, texts }
}

/** Whether a parsed entry is written as its text is, and its status as it says. */
function isWrittenAsItIs({ status, text }: RunChangeEntry): boolean {
  return statuses.has(status) && !indexLikeKey.test(text)
}

/** What may be a key that a parsed object puts before all others, whatever the text says. */
const indexLikeKey = /"(?:0|[1-9]\d*)":/
