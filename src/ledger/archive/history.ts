import {
  canonicalize,
  coreError,
  type Hash,
  type IdentityId,
  isHash,
  isJsonObject,
  isRunId,
  type Json,
  jsonIn,
  ledgerError,
  type RunId,
  sha256Hex,
  type TallyError
} from '../../core/index.js'
import { type RecordForm, uncheckedForm } from '../derived/record-form.js'
import { StoreKeys } from '../keys.js'
import { corrupt } from '../record/record.js'
import type { Store } from '../stores/port.js'
import { type Boundary, boundaryJson, parseBoundary } from './boundary.js'

/** An archive as its ledger names it. */
export interface ArchiveEntry {
  /** Of the file, before it is packed. */
  readonly bytes: number
  /** Commit records and receipts of the ledger before its end. */
  readonly commits: number
  readonly receipts: number
  /** Name of the file, without its directory; it may have been moved. */
  readonly file: string
  /** Hash of the entry before it: the last entry, which a receipt names, binds all. */
  readonly previous: Hash | null
  /** Of all bytes before the footer: what the archive is known by. */
  readonly sha256: Hash
}

/** What of a ledger was archived, and where what is left begins. */
export interface ArchivedHistory {
  readonly boundary: Boundary
  /** From the beginning of the ledger on, without gaps. */
  readonly archives: readonly ArchiveEntry[]
  /** Whether everything that the archives have was removed from the store. */
  readonly isSwept: boolean
}

/** A history that becomes that of the ledger once the receipt of this run is durable. */
export interface PendingHistory {
  readonly history: ArchivedHistory
  readonly runId: RunId
}

export function entryHash(entry: ArchiveEntry): Hash {
  return sha256Hex(canonicalize({ ...entry }))
}

/** What the receipt of an archive signs. */
export function signedHistory({ archives, boundary }: ArchivedHistory) {
  const last = archives.at(-1)
  if (last === undefined) throw coreError('core.internal', { problem: 'no archive is named' })
  return { archive: { ...last }, boundary: boundaryJson(boundary) }
}

export function historyText({ boundary, archives, isSwept }: ArchivedHistory): string {
  return canonicalize(historyJson({ boundary, archives, isSwept }))
}

export function pendingText({ history, runId }: PendingHistory): string {
  return canonicalize({ history: historyJson(history), runId })
}

/** What was archived of the ledger in a store; undefined: nothing. Throws `ledger.corrupt`. */
export function readHistory(
  store: Store,
  keys: StoreKeys,
  form: RecordForm
): ArchivedHistory | undefined {
  const value = store.get(keys.archived)
  if (value === undefined) return undefined
  const history = parseHistory(jsonIn(form.body(keys.archived, value).toString()))
  if (history === undefined) throw corrupt(keys.archived, 'what was archived is malformed')
  return history
}

/** An archiving that was begun and not ended. Throws `ledger.corrupt`. */
export function readPending(
  store: Store,
  keys: StoreKeys,
  form: RecordForm
): PendingHistory | undefined {
  const value = store.get(keys.archiving)
  if (value === undefined) return undefined
  const read = jsonIn(form.body(keys.archiving, value).toString())
  const { history: given, runId } = isJsonObject(read) ? read : {}
  const history = parseHistory(given)
  if (history === undefined || !isRunId(runId)) {
    throw corrupt(keys.archiving, 'what is being archived is malformed')
  }
  return { history, runId }
}

/**
 * The error that history which is needed as a whole is archived; undefined where all is there.
 * Throws `ledger.corrupt`.
 */
export function archivedIn(store: Store, identity: IdentityId): TallyError | undefined {
  const history = readHistory(store, new StoreKeys(identity), uncheckedForm)
  if (history === undefined) return undefined
  const archive = history.archives.map(({ file }) => file).join(', ')
  return ledgerError('ledger.archived', { what: 'History that this needs', archive })
}

/** That what is asked for stands in an archive. */
export function archivedError(
  history: ArchivedHistory,
  what: string,
  commitSeq: number
): TallyError {
  const entry = history.archives.find(({ commits }) => commitSeq < commits)
  const archive = entry === undefined ? 'none' : `${entry.file} (sha256 ${entry.sha256})`
  return ledgerError('ledger.archived', { what, archive })
}

/** What stands before the end of what was archived. Each throws `ledger.archived`. */

/** `what` is read in it. */
export function checkCommit(
  history: ArchivedHistory | undefined,
  seq: number,
  what = `Commit ${seq}`
): void {
  if (history === undefined || seq >= history.boundary.commits) return
  throw archivedError(history, what, seq)
}

export function checkLeaf(history: ArchivedHistory | undefined, leaf: number): void {
  if (history === undefined || leaf >= history.boundary.frontier.size) return
  throw archivedError(history, `Record ${leaf} of the log`, history.boundary.commits - 1)
}

export function checkReceipt(history: ArchivedHistory | undefined, index: number): void {
  if (history === undefined || index >= history.boundary.receipts) return
  const entry = history.archives.find(({ receipts }) => index < receipts)
  throw archivedError(history, `Receipt ${index}`, (entry?.commits ?? 1) - 1)
}

function historyJson({ boundary, archives, isSwept }: ArchivedHistory) {
  return {
    archives: archives.map((entry) => ({ ...entry })),
    boundary: boundaryJson(boundary),
    swept: isSwept
  }
}

function parseHistory(value: Json | undefined): ArchivedHistory | undefined {
  if (!isJsonObject(value)) return undefined
  const { archives, boundary, swept } = value
  const parsed = parseBoundary(boundary)
  if (parsed === undefined || !Array.isArray(archives) || typeof swept !== 'boolean') {
    return undefined
  }
  const entries = (archives as readonly Json[]).flatMap(entryIn)
  const history = { boundary: parsed, archives: entries, isSwept: swept }
  const isBound = entries.every((entry, at) => {
    const before = entries[at - 1]
    return entry.previous === (before === undefined ? null : entryHash(before))
  })
  const last = entries.at(-1)
  const isWhole = last?.commits === parsed.commits && last.receipts === parsed.receipts
  return isBound && isWhole && historyText(history) === canonicalize(value) ? history : undefined
}

function entryIn(value: Json): readonly ArchiveEntry[] {
  if (!isJsonObject(value)) return []
  const { bytes, commits, file, previous = null, receipts, sha256 } = value
  const counts = [bytes, commits, receipts]
  if (!counts.every((count) => Number.isSafeInteger(count)) || typeof file !== 'string') return []
  if (!isHash(sha256) || (previous !== null && !isHash(previous))) return []
  const [one, two, three] = counts.map(Number)
  return [{ bytes: one ?? 0, commits: two ?? 0, file, previous, receipts: three ?? 0, sha256 }]
}
