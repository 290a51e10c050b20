import type { OpenWait } from '../../block/index.js'
import { digestOf, isTallyError, limits, type RunId } from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import { refuseAgent } from '../gate/agents.js'
import { type ReadingAs, ReadingRights } from '../gate/reading-rights.js'
import type { RunSummaryShown } from './find-runs.js'
import type { Page, WaitLine } from './query-types.js'
import {
  encodePlace,
  type IndexedRun,
  invalidCursor,
  isPlaceOf,
  markOf,
  parsePlace,
  placeOf,
  type RunIndex,
  type RunPlace,
  someOf
} from './run-index.js'

export interface WaitParts {
  readonly ledger: Pick<Ledger, 'run' | 'identity' | 'read'>
  readonly index: RunIndex
  /** Imported and not taken over. */
  readonly isFollower: boolean
  /** What a run in memory waits for while others of its steps continue. */
  liveWaits(id: RunId): readonly OpenWait[]
  summary(record: RunRecord): Promise<RunSummaryShown>
  readonly beginnings: WaitBeginnings
}

/**
 * What can be answered now, of all runs: those that began first before the others, each with its
 * oldest wait first. A wait that is not what is signed is not among them (L12).
 */
export async function findWaits(
  parts: WaitParts,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
  reader: ReadingAs | undefined
): Promise<Page<WaitLine>> {
  const { index, ledger } = parts
  await index.refresh()
  const place = cursor === undefined ? undefined : parseWaitPlace(cursor)
  const mayWait = (run: IndexedRun) =>
    run.status === 'waiting' || (run.status === 'running' && parts.liveWaits(run.id).length > 0)
  const rights = reader && new ReadingRights(ledger, reader)
  const sees = (run: IndexedRun) =>
    rights?.sees(run.principal, [...run.waits, ...parts.liveWaits(run.id)]) ?? true
  const { found, next } = someOf(index.oldest(place?.run, sees), limit + 1, mayWait)
  const items: WaitLine[] = []
  let last: string | null = null
  for (const run of found) {
    const record = ledger.run(run.id, { durable: true })
    const lines =
      record === undefined ? [] : await waitLines(parts, record, { agent: reader?.agent, rights })
    const isBegun = place !== undefined && isPlaceOf(place.run, run)
    for (const line of isBegun ? lines.filter((one) => isBehind(one, place.wait)) : lines) {
      if (items.length === limit) return { items, next: last }
      items.push(line)
      const wait = { since: line.since, mark: markOf(line.wait.token) }
      last = encodeWaitPlace({ run: placeOf(run), wait })
    }
  }
  return { items, next: next === undefined ? null : encodeWaitPlace({ run: next }) }
}

/** What can be answered now of one run, its oldest wait first. */
export async function waitsOfRun(
  parts: WaitParts,
  asked: { readonly runId: RunId; readonly limit: number; readonly cursor: string | undefined },
  reader: ReadingAs | undefined
): Promise<Page<WaitLine>> {
  const { ledger } = parts
  const { runId, limit, cursor } = asked
  const record = ledger.run(runId, { durable: true })
  if (record === undefined) return { items: [], next: null }
  const rights = reader && new ReadingRights(ledger, reader)
  const lines = await waitLines(parts, record, { agent: reader?.agent, rights })
  const place = cursor === undefined ? undefined : parseWaitPlace(cursor)
  const left = place === undefined ? lines : lines.filter((line) => isBehind(line, place.wait))
  const items = left.slice(0, limit)
  const last = items.at(-1)
  if (last === undefined || left.length === items.length) return { items, next: null }
  const run = placeOf({ id: runId, at: Number(record.started['at']) })
  const wait = { since: last.since, mark: markOf(last.wait.token) }
  return { items, next: encodeWaitPlace({ run, wait }) }
}

/** The open waits of a run, oldest first; none where one of them is not what is signed. */
async function waitLines(
  parts: WaitParts,
  record: RunRecord,
  reader: { readonly agent: string | undefined; readonly rights: ReadingRights | undefined }
): Promise<readonly WaitLine[]> {
  const { runId } = record
  const { name, waits, notChecked } = await parts.summary(record)
  if (waits.length === 0 || !waits.every((wait) => isSigned(runId, wait))) return []
  const { agent, rights } = reader
  // It may have moved since the index was read.
  if (rights?.sees(record.started['principal'], waits) === false) return []
  const begun = await parts.beginnings.of(record)
  const lines = waits.map((wait): WaitLine => {
    const since = begun.get(wait.token) ?? record.updatedAt
    const mayAnswer = mayAnswerIn(parts, { wait, waits, runId, agent })
    const isWhole = digestOf(wait) !== undefined
    return {
      runId,
      runName: name,
      since,
      due: wait.due,
      wait,
      mayAnswer,
      notChecked: isWhole ? notChecked : [...notChecked, WITHOUT_MEMBERS]
    }
  })
  return lines.sort(compareLines)
}

const WITHOUT_MEMBERS = 'the digest of the wait: version 0.1.0 wrote it without all that it covers'

/** A wait of 0.1.0 does not carry all that its digest covers, and says so in `notChecked`. */
function isSigned(runId: RunId, wait: OpenWait): boolean {
  const isOfRun = wait.runId === undefined || wait.runId === runId
  return isOfRun && (digestOf(wait) ?? wait.digest) === wait.digest
}

type Begun = ReadonlyMap<string, number>

/**
 * When the waits of runs began, by token.
 *
 * Owns: those of runs that were asked for lately, as far as their journals went. Only when a wait
 * began is remembered; what is shown of it is compared with what is signed each time (L12).
 */
export class WaitBeginnings {
  readonly #ledger: Pick<Ledger, 'journal'>
  readonly #known = new Map<RunId, { readonly entries: number; readonly begun: Begun }>()

  constructor(ledger: Pick<Ledger, 'journal'>) {
    this.#ledger = ledger
  }

  async of({ runId, entries }: Pick<RunRecord, 'runId' | 'entries'>): Promise<Begun> {
    const known = this.#known.get(runId)
    this.#known.delete(runId)
    const begun = known?.entries === entries ? known.begun : await this.#read(runId)
    this.#known.set(runId, { entries, begun })
    const [oldest = runId] = this.#known.keys()
    if (this.#known.size > limits.CACHE_ENTRIES_MAX) this.#known.delete(oldest)
    return begun
  }

  async #read(runId: RunId): Promise<Begun> {
    const begun = new Map<string, number>()
    const mayBegin = (text: string) => text.includes('"k":"wait"')
    for await (const { value } of this.#ledger.journal(runId, 0, mayBegin)) {
      const { k, token, at } = value as unknown as WaitEntry
      if (k === 'wait') begun.set(token, at)
    }
    return begun
  }
}

interface WaitEntry {
  readonly k: string
  readonly token: string
  readonly at: number
}

function mayAnswerIn(
  { ledger, isFollower }: WaitParts,
  asked: {
    readonly wait: OpenWait
    readonly waits: readonly OpenWait[]
    readonly runId: RunId
    readonly agent: string | undefined
  }
): WaitLine['mayAnswer'] {
  const { wait, waits, runId, agent } = asked
  if (isFollower) return { ok: false, reason: 'the ledger was imported and not taken over' }
  if (agent !== undefined) {
    const { token } = wait
    try {
      refuseAgent({ ledger, runs: { waits: () => waits } }, { id: runId, token, agent })
    } catch (error) {
      if (!isTallyError(error, 'service.agent_refused')) throw error
      return { ok: false, reason: String(error.context['problem']) }
    }
  }
  const { approvers, approvals = [] } = wait
  if (approvers === undefined) return { ok: true }
  const { threshold, keys } = approvers
  const reason = `it takes signatures of ${threshold} of ${keys.length} approvers`
  return { ok: false, reason: `${reason}; ${approvals.length} are there` }
}

function compareLines(one: WaitLine, other: WaitLine): number {
  if (one.since !== other.since) return one.since - other.since
  return markOf(one.wait.token) < markOf(other.wait.token) ? -1 : 1
}

/** A place among the waits of a run; without one, behind all of them. */
export interface WaitPlace {
  readonly run: RunPlace
  readonly wait?: { readonly since: number; readonly mark: string }
}

function isBehind({ since, wait }: WaitLine, place: WaitPlace['wait']): boolean {
  if (place === undefined) return false
  if (since !== place.since) return since > place.since
  return markOf(wait.token) > place.mark
}

export function encodeWaitPlace({ run, wait }: WaitPlace): string {
  const place = encodePlace(run)
  return wait === undefined ? place : `${place}/${encodePlace({ at: wait.since, mark: wait.mark })}`
}

/** Reads a place back. Throws `service.invalid_params`. */
export function parseWaitPlace(text: string): WaitPlace {
  const [run = '', wait, ...rest] = text.split('/')
  if (rest.length > 0) throw invalidCursor()
  if (wait === undefined) return { run: parsePlace(run) }
  const { at: since, mark } = parsePlace(wait)
  return { run: parsePlace(run), wait: { since, mark } }
}
