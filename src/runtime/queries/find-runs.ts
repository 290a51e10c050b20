import {
  canonicalize,
  isJsonObject,
  isTallyError,
  type Json,
  limits,
  type RunId
} from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import { isEnded } from '../run/ended.js'
import { endingUnit, isArchived, isIntentRun } from '../run/run-records.js'
import { checkShown, type ShownLedger } from '../run/shown.js'
import type { Page, RunCounts, RunFilter, RunLine, ShownStatus } from './query-types.js'
import {
  encodePlace,
  type IndexedRun,
  parsePlace,
  type RunIndex,
  type SeesRun,
  someOf
} from './run-index.js'

/** What a list shows of a run beside what its receipts say. */
export type RunSummaryShown = Omit<
  RunLine,
  'principal' | 'receipts' | 'failure' | 'tags' | 'parent'
>

export interface LineParts {
  readonly ledger: Pick<Ledger, 'unit' | 'archiving'> & ShownLedger
  /** Imported and not taken over: what is open here is its exporter's to continue. */
  readonly isFollower: boolean
  summary(record: RunRecord): Promise<RunSummaryShown>
  /** By which it is found. */
  tags(record: RunRecord): Promise<readonly string[]>
}

/**
 * Lists runs, newest first. Owns nothing; the index does not know what is shown.
 */
export class FoundRuns {
  readonly #parts: Pick<LineParts, 'ledger'> & { readonly index: RunIndex }
  readonly #lines: RunLines

  constructor(parts: Pick<LineParts, 'ledger'> & { readonly index: RunIndex }, lines: RunLines) {
    this.#parts = parts
    this.#lines = lines
  }

  async find(
    filter: RunFilter,
    { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
    sees?: SeesRun
  ): Promise<Page<RunLine>> {
    const { index, ledger } = this.#parts
    await index.refresh()
    const place = cursor === undefined ? undefined : parsePlace(cursor)
    const isWanted = this.#wantedBy(filter)
    const { found, next } = someOf(index.newest(place, sees), limit, isWanted)
    const items: RunLine[] = []
    for (const { id } of found) {
      const record = ledger.run(id, { durable: true })
      if (record === undefined) continue
      const line = await this.#lines.line(record)
      // It may have moved since the index was read.
      if (filter.status !== undefined && line.status !== filter.status) continue
      if (filter.queued !== undefined && line.queued === undefined) continue
      items.push(line)
    }
    return { items, next: next === undefined ? null : encodePlace(next) }
  }

  /** How many there are, by what lists show of them. */
  async counts(): Promise<RunCounts> {
    const { index } = this.#parts
    await index.refresh()
    const byStatus: Partial<Record<ShownStatus, number>> = {}
    let all = 0
    for (const [status, count] of index.counts) {
      const shown = this.#lines.shown(status)
      byStatus[shown] = (byStatus[shown] ?? 0) + count
      all += count
    }
    return { all, byStatus }
  }

  #wantedBy(filter: RunFilter): (run: IndexedRun) => boolean {
    const { status, name, text, since, until, tag, waiting, queued, parent } = filter
    const part = text?.toLowerCase()
    return (run) =>
      (status === undefined || this.#lines.shown(run.status) === status) &&
      (name === undefined || run.name === name) &&
      (since === undefined || run.at >= since) &&
      (until === undefined || run.at < until) &&
      (tag === undefined || run.tags.includes(tag)) &&
      (waiting === undefined || isWaiting(run, waiting)) &&
      (queued === undefined || mayBeQueued(run, queued)) &&
      (parent === undefined || run.parent === parent) &&
      (part === undefined || `${run.id}\n${run.name}`.toLowerCase().includes(part))
  }
}

function isWaiting({ waits }: IndexedRun, waiting: true | string): boolean {
  return waiting === true ? waits.length > 0 : waits.some(({ reason }) => reason === waiting)
}

/** Its line says whether it is. */
function mayBeQueued({ status, queue }: IndexedRun, queued: true | string): boolean {
  return status === 'running' && queue !== undefined && (queued === true || queue === queued)
}

/**
 * Runs as lists show them.
 *
 * Owns: how many receipts runs had that were shown lately.
 */
export class RunLines {
  readonly #parts: LineParts
  readonly #counted = new Map<RunId, Counted>()

  constructor(parts: LineParts) {
    this.#parts = parts
  }

  async line(record: RunRecord): Promise<RunLine> {
    const [summary, tags] = [await this.#parts.summary(record), await this.#parts.tags(record)]
    const { principal = null, parent } = record.started
    return {
      ...summary,
      status: this.shown(summary.status),
      principal,
      ...(tags.length === 0 ? {} : { tags }),
      ...(parent === undefined ? {} : { parent: parent as RunId }),
      receipts: await this.#receipts(record),
      ...(await this.#failure(record))
    }
  }

  /** Compared with what is signed (L12): what differs is named, and not shown. */
  async #failure(record: RunRecord): Promise<Pick<RunLine, 'failure' | 'problem'>> {
    if (record.status !== 'failed') return { failure: null }
    const { ledger } = this.#parts
    if (record.isErased) return { failure: null, problem: 'ledger.erased' }
    if (isArchived(ledger, record)) return { failure: failureOf(record) }
    try {
      await checkShown(ledger, record, await ledger.unit(endingUnit(record)))
      return { failure: failureOf(record) }
    } catch (error) {
      if (!isTallyError(error)) throw error
      return { failure: null, problem: error.code }
    }
  }

  shown(status: RunLine['status']): RunLine['status'] {
    const isOpen = status === 'running' || status === 'waiting'
    return this.#parts.isFollower && isOpen ? 'imported' : status
  }

  /** Signed units of a run; null where counting them would take a long journal. */
  async #receipts(record: RunRecord): Promise<number | null> {
    const { runId, entries } = record
    const counted = this.#counted.get(runId) ?? { entries: 0, receipts: 0 }
    if (counted.entries === entries) return counted.receipts
    if (record.isErased || isArchived(this.#parts.ledger, record)) return null
    const signed = record.status === 'done' ? await this.#signedCount(record) : undefined
    if (signed === undefined && entries - counted.entries > limits.ENTRIES_COUNTED_MAX) return null
    const receipts = signed ?? counted.receipts + (await this.#countedFrom(runId, counted.entries))
    this.#counted.delete(runId)
    this.#counted.set(runId, { entries, receipts })
    for (const oldest of this.#counted.keys()) {
      if (this.#counted.size <= limits.CACHE_ENTRIES_MAX) break
      this.#counted.delete(oldest)
    }
    return receipts
  }

  /** As the receipt that ends a run says it; undefined where that is withheld or missing. */
  async #signedCount(record: RunRecord): Promise<number | undefined> {
    const completed = await this.#parts.ledger.unit(endingUnit(record))
    if (completed === undefined) return undefined
    if (isIntentRun(record)) return 1
    if (completed.payloadText === undefined) return undefined
    const { receipts } = JSON.parse(completed.payloadText) as {
      readonly receipts?: { readonly count?: number }
    }
    return receipts?.count === undefined ? undefined : receipts.count + 1
  }

  async #countedFrom(runId: RunId, from: number): Promise<number> {
    let receipts = 0
    for await (const part of this.#parts.ledger.journalParts(runId, from)) {
      for (const { receiptHash } of part) if (receiptHash !== undefined) receipts += 1
    }
    return receipts
  }
}

interface Counted {
  readonly entries: number
  readonly receipts: number
}

/** Why a run has failed, in one line. */
function failureOf(record: RunRecord): string | null {
  const response = isEnded(record) ? record.last['response'] : undefined
  if (!isJsonObject(response ?? null)) return null
  const { reason, details } = response as { readonly reason?: Json; readonly details?: Json }
  const message = isJsonObject(details ?? null)
    ? (details as { message?: Json }).message
    : undefined
  const parts = [reason, message].filter((part): part is string => typeof part === 'string')
  const text = parts.length === 0 ? canonicalize(response) : parts.join(': ')
  return text.replace(/\s+/gu, ' ').slice(0, FAILURE_LENGTH_MAX)
}

const FAILURE_LENGTH_MAX = 200
