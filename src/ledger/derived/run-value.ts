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
