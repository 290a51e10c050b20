import { type Json, type JsonObject, ledgerError, type RunId } from '../../core/index.js'
import type { RunRecord, RunStatus } from '../ledger-api.js'

/** A commit that holds entries of a run: its number, and the number of the first such entry. */
export type RunCommit = readonly [commitSeq: number, firstEntry: number]

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

/** The last entry is left out while it is the first: a definition is long. */
export function encodeRun({ record, entries, blocks, visits, upTo }: StoredRun): string {
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

/** A stored run whose entries stay the bytes that they are. */
export interface StoredTexts extends StoredPlaces {
  readonly updatedAt: number
  /** The members `last` and `started`. */
  readonly texts: Buffer
}

const lastMember = Buffer.from('"last":')
const noLast = Buffer.from('"last":null,')
const noTexts = Buffer.from('"last":null,"started":null')

/** Reads a stored run and not its entries; undefined where it has none, or another form. */
export function decodeTexts(body: Buffer): StoredTexts | undefined {
  const numbers = leadingNumbers.exec(body.toString('latin1', 0, NUMBERS_BYTES_MAX))
  const end = numbers === null ? undefined : endOf(body)
  if (numbers === null || end === undefined || end.updatedAt === undefined) return undefined
  const [{ length }, blocks, entries] = numbers
  const { from, updatedAt, ...places } = end
  const texts = body.subarray(length - 1, from - 1)
  const isKnown = texts.subarray(0, lastMember.length).equals(lastMember)
  if (!isKnown || texts.equals(noTexts)) return undefined
  return { ...places, updatedAt, blocks: Number(blocks), entries: Number(entries), texts }
}

/** The texts of entries with a last one in the place of none; undefined where there is one. */
export function textsWithLast(texts: Buffer, last: string): Buffer | undefined {
  if (!texts.subarray(0, noLast.length).equals(noLast)) return undefined
  return Buffer.concat([Buffer.from(`"last":${last},`), texts.subarray(noLast.length)])
}

/** {@link encodeRun} of a run whose entries are there as bytes. */
export function encodeTexts(run: StoredTexts): Buffer {
  const { blocks, entries, texts, status, upTo, updatedAt, visits } = run
  const ending = JSON.stringify({ status, upTo, updatedAt, visits }).slice(1)
  const beginning = Buffer.from(`{"blocks":${blocks},"entries":${entries},`)
  return Buffer.concat([beginning, texts, Buffer.from(`,${ending}`)])
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
  if (rest !== undefined) {
    const { status, upTo, visits } = rest
    return { status, upTo, visits, blocks: Number(blocks), entries: Number(entries) }
  }
  const stored = decodeRun(key, runId, body.toString())
  return { ...stored, status: stored.record?.status ?? null }
}

/** What stands behind the entries, and from where. */
interface RunEnd extends Pick<StoredPlaces, 'status' | 'upTo' | 'visits'> {
  readonly updatedAt: number | undefined
  readonly from: number
}

function endOf(body: Buffer): RunEnd | undefined {
  const end = endText(body)
  if (end === undefined) return undefined
  try {
    // Behind a status within an entry's text stands the end of that entry, which does not parse.
    const value: unknown = JSON.parse(`{${end}`)
    const { status = null, upTo, visits, updatedAt } = value as Partial<RunEnd>
    if (typeof upTo !== 'number' || !Array.isArray(visits)) return undefined
    const time = typeof updatedAt === 'number' ? updatedAt : undefined
    return { status, upTo, visits, updatedAt: time, from: body.length - end.length }
  } catch {
    return undefined
  }
}

/** Reads a stored run; throws `ledger.corrupt` when it is malformed. */
export function decodeRun(key: string, runId: RunId, text: string): StoredRun {
  const { blocks, entries, visits, last, started, status, upTo, updatedAt } = parsedRun(key, text)
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

interface RunValue {
  readonly blocks: number
  readonly entries: number
  readonly last: JsonObject | null
  readonly started: JsonObject | null
  readonly status: Json
  readonly upTo: number
  readonly updatedAt: number | null
  readonly visits: readonly RunCommit[]
}

function parsedRun(key: string, text: string): RunValue {
  const problem = 'the run record is malformed'
  let value: Partial<RunValue> | null
  try {
    value = JSON.parse(text) as Partial<RunValue> | null
  } catch (cause) {
    throw ledgerError('ledger.corrupt', { key, problem }, { cause })
  }
  if (!Array.isArray(value?.visits)) throw ledgerError('ledger.corrupt', { key, problem })
  return value as RunValue
}
