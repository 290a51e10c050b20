/**
 * What may be asked of a ledger and its runs: one table of methods, JSON in and JSON out.
 *
 * Owns nothing. The same table answers in this process and behind the owner socket (L11), so that
 * a caller need not know who holds the ledger. Callers are the owner: the socket is theirs
 * alone.
 *
 * - K13 The principal of every message is set here. An owner's program may only step down: ask in
 *   the name of an agent, which may do less.
 * - Every parameter is checked; unknown ones are refused.
 */
import type { ReceiptReplay, RunRecording } from '../../audit/index.js'
import {
  blockError,
  type Hash,
  isHash,
  type Json,
  ledgerError,
  limits,
  once,
  type RunId
} from '../../core/index.js'
import { type Ledger, marksOf, type OwnerHandler, type OwnerRequest } from '../../ledger/index.js'
import type { RecheckOptions, TransactionCheck } from '../audit/reconfirm.js'
import type { Registry } from '../code/registry.js'
import { agentNamed, refuseAgent } from '../gate/agents.js'
import type { ReadingRights } from '../gate/reading-rights.js'
import type { OpeningCause } from '../opening/opening-remedies.js'
import { isQuery, isQueryStream } from '../queries/queries.js'
import type { QueryParts } from '../queries/query-parts.js'
import type { QueryRequests, QueryStreams } from '../queries/query-types.js'
import { messageOf } from '../run/messages.js'
import type { Runs } from '../run/runs.js'
import type { ArchiveOptions, ArchiveResult } from '../system/archive-options.js'
import type { ExportOptions, ExportReport } from '../system/exporting.js'
import { answerOf } from './answer-params.js'
import {
  answerAndFollow,
  askedStart,
  cancelRun,
  followOnly,
  type Running,
  resumeAndFollow,
  sendMessage,
  startAndFollow,
  startRun
} from './following.js'
import { type Asking, intentRequestsOf } from './intent-service.js'
import { askedArchive, askedExport, Params, unknownMethod } from './params.js'
import type {
  ReceiptView,
  RunSummary,
  RunView,
  ServiceRequests,
  ServiceStatus,
  ServiceStreams
} from './service-types.js'
import { journalLines, receiptLine, receiptView, runLine, runView } from './views.js'

export interface ServiceParts {
  readonly ledger: Ledger
  /** Real path of the ledger, or `memory:`. */
  readonly location: string
  /** Absent where the ledger was opened for reading only. */
  readonly running?: { readonly runs: Runs; readonly registry: Registry }
  /** Absent where the ledger was opened for reading only. */
  readonly asking?: Asking
  /** What could not be checked when the ledger was opened, and which runs rest. */
  warnings?(): readonly string[] | Promise<readonly string[]>
  /** Causes of safe mode that opening found. */
  causes?(): readonly OpeningCause[]
  thrown?: QueryParts['thrown']
  problemOf?: QueryParts['problemOf']
  readonly verify: QueryParts['verify']
  replay?(which: Hash | number): Promise<ReceiptReplay | undefined>
  recording?(run: string): Promise<RunRecording>
  exports(given: ExportOptions): Promise<ExportReport>
  archive?(given: ArchiveOptions): Promise<ArchiveResult>
  /** Imported and not taken over: nothing of it runs. */
  readonly isFollower?: boolean
  recheck?(id: string, options: RecheckOptions): Promise<readonly TransactionCheck[]>
  lint?(document: string): Promise<ServiceRequests['lint']['result']['diagnostics']>
}

type Requests = {
  readonly [Method in Exclude<keyof ServiceRequests, keyof QueryRequests>]: (
    params: Params
  ) => Promise<ServiceRequests[Method]['result']>
}
type Streams = {
  readonly [Method in Exclude<keyof ServiceStreams, keyof QueryStreams>]: (
    params: Params
  ) => AsyncIterable<ServiceStreams[Method]['event']>
}

/**
 * The methods over one ledger, as the owner socket calls them.
 * Throws `service.unknown_method`, `service.invalid_params`, and what the methods throw.
 */
export function serve(parts: ServiceParts): OwnerHandler {
  // Most runtimes are asked nothing; what asks for pages needs what no other method does.
  const tables = once(() => ({ requests: requestsOf(parts), streams: streamsOf(parts) }))
  const queries = once(async () => (await import('./query-service.js')).queriesOver(parts))
  return (request: OwnerRequest) => {
    const { method, params } = request
    const { requests, streams } = tables()
    // Results are plain JSON; their types only name the members.
    if (isMethod(requests, method)) {
      return requests[method](new Params(method, params)) as Promise<unknown> as Promise<Json>
    }
    if (isMethod(streams, method)) {
      return streams[method](new Params(method, params)) as AsyncIterable<unknown> as never
    }
    if (isQuery(method)) return queries().then((loaded) => loaded.request(method, request))
    if (isQueryStream(method)) {
      return given(async () => (await queries()).stream(method, request))
    }
    throw unknownMethod(method)
  }
}

function archivingOf({ archive }: ServiceParts, params: Params) {
  const asked = askedArchive(params)
  return given(async () => (await import('./work-progress.js')).archivingBy(archive, asked))
}

function exportingBy({ exports }: ServiceParts, params: Params) {
  const asked = askedExport(params)
  return given(async () => (await import('./work-progress.js')).exportingBy(exports, asked))
}

/** A stream whose code is loaded when it is first read. */
async function* given<Event>(load: () => Promise<AsyncIterable<Event>>): AsyncGenerator<Event> {
  yield* await load()
}

function isMethod<Table extends object>(table: Table, name: string): name is keyof Table & string {
  return Object.hasOwn(table, name)
}

function requestsOf(parts: ServiceParts): Requests {
  const { ledger } = parts
  return {
    ...intentRequestsOf(parts.asking),
    status: async (params) => {
      params.end()
      return statusOf(parts)
    },
    start: async (params) => {
      const running = runningOf(parts)
      return startRun(running, askedStart(running, params))
    },
    show: (params) => shownRun(parts, params),
    receipt: (params) => shownReceipt(parts, params),
    cancel: async (params) => {
      const reason = params.optionalText('reason') ?? 'cancelled by the owner'
      const id = lastOf(params, params.text('id'))
      const running = runningOf(parts)
      await cancelRun(running, id, reason)
      return runView(ledger, running.runs, id)
    },
    signal: async (params) => {
      const [name, value] = [params.text('name'), params.value('value') ?? null]
      const [id, by] = [params.optionalText('signalId'), params.optionalText('by')]
      const run = lastOf(params, params.text('id'))
      const how = { ...(id === undefined ? {} : { id }), ...(by === undefined ? {} : { by }) }
      return runningOf(parts).runs.signal(run, name, value, how)
    },
    message: async (params) => {
      const { id, token, action, ...answer } = answerOf(params)
      const agent = params.optionalText('agent')
      params.end()
      const running = runningOf(parts)
      const message = messageOf(token, answer, action)
      if (agent === undefined) return sendMessage(running.runs, id as RunId, message)
      refuseAgent(running, { id: id as RunId, token, agent })
      return sendMessage(running.runs, id as RunId, { ...message, by: agentNamed(agent) })
    },
    ...statesOf(ledger),
    verify: async (params) => {
      const notes = params.texts('notes', ['source', 'text'])
      const replay = params.flag('replay')
      const asked = params.optionalCount('executions') ?? 1
      const executions = Math.min(asked, limits.VERIFY_EXECUTIONS_MAX)
      const archives = params.optionalList('archives')
      params.end()
      return parts.verify({ notes, replay, executions, ...(archives && { archives }) })
    },
    replay: async (params) => {
      const which = receiptOf(params)
      if (parts.replay === undefined) throw ledgerError('ledger.read_only', {})
      const replayed = await parts.replay(which)
      if (replayed === undefined) throw ledgerError('receipt.not_found', { which })
      return replayed
    },
    recheck: (params) => reconfirmationOf(parts, params),
    note: async (params) => {
      params.end()
      runningOf(parts)
      return { note: await ledger.note() }
    },
    export: async (params) => parts.exports(askedExport(params)),
    lint: async (params) => {
      const document = params.text('document')
      params.end()
      if (parts.lint === undefined) throw ledgerError('ledger.read_only', {})
      return { diagnostics: await parts.lint(document) }
    }
  }
}

/** Keys and what runs publish; secrets are taken out of every answer of the service. */
function statesOf(ledger: Ledger): Pick<Requests, 'published' | 'stateValue' | 'stateValues'> {
  const values = once(async () =>
    (await import('../queries/outside-state.js')).outsideState(ledger)
  )
  return {
    published: async (params) => {
      const key = params.text('key')
      const id = lastOf(params, params.text('id'))
      const { publishedValue } = await import('../queries/published-values.js')
      return valued(await publishedValue(ledger, id, key))
    },
    stateValue: async (params) => {
      const key = params.text('key')
      params.end()
      return valued(await (await values()).get(key))
    },
    stateValues: async (params) => {
      const [prefix, after] = [params.optionalText('prefix'), params.optionalText('after')]
      const limit = params.optionalCountTo('limit', limits.PAGE_ITEMS_MAX)
      params.end()
      const page = limit === undefined ? {} : { limit }
      return (await values()).list(prefix, { ...page, ...(after === undefined ? {} : { after }) })
    }
  }
}

function valued(value: Json | undefined): { readonly value?: Json } {
  return value === undefined ? {} : { value }
}

function streamsOf(parts: ServiceParts): Streams {
  const { ledger } = parts
  return {
    runs: async function* (params) {
      const rights = await rightsOf(params, ledger)
      params.end()
      for await (const record of ledger.runs({ durable: true })) {
        const line = await runLine(record, { ledger, runs: parts.running?.runs })
        if (rights.sees(record.started['principal'], line.waits)) yield imported(parts, line)
      }
    },
    receipts: async function* (params) {
      const last = params.optionalCount('last')
      const { receipts } = ledger.state()
      const first = ledger.archiving.history?.boundary.receipts ?? 0
      const from = params.optionalCount('from') ?? Math.max(first, receipts - (last ?? receipts))
      const to = params.optionalCount('to') ?? receipts
      const rights = await rightsOf(params, ledger)
      params.end()
      for await (const stored of ledger.receipts({ from, to })) {
        if (rights.sees(stored.receipt.inputPayload.principal)) yield receiptLine(ledger, stored)
      }
    },
    journal: async function* (params) {
      const [from, limit] = [params.optionalCount('from'), params.optionalCount('limit')]
      const id = lastOf(params, params.text('id'))
      if (!ledger.hasRun(id)) throw blockError('run.not_found', { runId: id })
      yield* journalLines(ledger, id, from, limit)
    },
    recording: async function* (params) {
      const id = lastOf(params, params.text('id'))
      if (parts.recording === undefined) throw ledgerError('ledger.read_only', {})
      const { recordingParts } = await import('./recording-parts.js')
      yield* recordingParts(await parts.recording(id))
    },
    run: (params) => {
      const follow = params.flag('follow')
      const asked = askedStart(runningOf(parts), params)
      return startAndFollow(runningOf(parts), { ...asked, follow })
    },
    exporting: (params) => exportingBy(parts, params),
    archiving: (params) => archivingOf(parts, params),
    resume: (params) => {
      const follow = params.flag('follow')
      return resumeAndFollow(runningOf(parts), { id: lastOf(params, params.text('id')), follow })
    },
    answer: (params) => {
      const { id, token, action, ...answer } = answerOf(params)
      const follow = params.flag('follow')
      params.end()
      const options = { id: id as RunId, token, answer, action, follow }
      return answerAndFollow(runningOf(parts), options)
    },
    events: (params) => {
      const follow = params.flag('follow')
      return followOnly(runningOf(parts), { id: lastOf(params, params.text('id')), follow })
    }
  }
}

/** What the caller is shown; the owner needs nothing of the rooms that run things. */
async function rightsOf(
  params: Params,
  ledger: Ledger
): Promise<Pick<ReadingRights, 'sees' | 'check'>> {
  const agent = params.optionalText('agent')
  const answers = params.flag('answers')
  if (agent === undefined) return { sees: () => true, check: () => undefined }
  return new (await import('../gate/reading-rights.js')).ReadingRights(ledger, { agent, answers })
}

async function shownRun(parts: ServiceParts, params: Params): Promise<RunView> {
  const { ledger, running } = parts
  const rights = await rightsOf(params, ledger)
  const id = lastOf(params, params.text('id'))
  const view = await runView(ledger, running?.runs, id)
  rights.check(ledger.run(id)?.started['principal'], view.waits)
  return imported(parts, view)
}

async function shownReceipt({ ledger }: ServiceParts, params: Params): Promise<ReceiptView> {
  const rights = await rightsOf(params, ledger)
  const which = receiptOf(params)
  const stored = await ledger.receipt(which)
  if (stored === undefined) throw ledgerError('receipt.not_found', { which })
  rights.check(stored.receipt.inputPayload.principal)
  return receiptView(ledger, stored)
}

function receiptOf(params: Params): Hash | number {
  const hash = params.optionalText('hash')
  const index = params.optionalCount('index')
  params.end()
  if (hash === undefined) return index ?? 0
  if (isHash(hash)) return hash
  throw ledgerError('receipt.not_found', { which: hash })
}

async function reconfirmationOf(
  { recheck, isFollower }: ServiceParts,
  params: Params
): Promise<readonly TransactionCheck[]> {
  const sendAgain = params.flag('sendAgain')
  const withinMs = params.optionalCount('withinMs')
  const id = lastOf(params, params.text('id'))
  // What an imported ledger has sent is its exporter's to send again.
  const isForeign = sendAgain && isFollower === true
  if (recheck === undefined || isForeign) throw ledgerError('ledger.read_only', {})
  return recheck(id, withinMs === undefined ? { sendAgain } : { sendAgain, withinMs })
}

/** The id, once every other parameter was read. Ids that no run can have are not found. */
function lastOf(params: Params, id: string): RunId {
  params.end()
  return id as RunId
}

function runningOf({ ledger, running }: ServiceParts): Running {
  if (running === undefined) throw ledgerError('ledger.read_only', {})
  return { ledger, ...running }
}

/** What an imported ledger has begun is its exporter's to continue. */
function imported<Shown extends RunSummary>({ isFollower }: ServiceParts, run: Shown): Shown {
  const isOpen = run.status === 'running' || run.status === 'waiting'
  return isFollower === true && isOpen ? { ...run, status: 'imported' } : run
}

async function statusOf(parts: ServiceParts): Promise<ServiceStatus> {
  const { ledger, location, running, warnings, isFollower = false } = parts
  const { identity, mode, cause = null, receipts, epoch } = ledger.state()
  const readOnly = running === undefined
  const { pid } = process
  const shown = {
    identity,
    mode,
    cause,
    causes: causesOf(cause, parts.causes?.() ?? []),
    receipts,
    epoch,
    location,
    process: pid,
    readOnly,
    isFollower
  }
  const marks = await marksOf(ledger).catch(() => [])
  const quarantined = marks.filter(({ isReleased }) => !isReleased)
  return { ...shown, warnings: (await warnings?.()) ?? [], quarantined }
}

/** What opening found goes with its first cause: one that came later stands alone. */
function causesOf(
  cause: OpeningCause | null,
  found: readonly OpeningCause[]
): readonly OpeningCause[] {
  if (cause === null) return []
  return found[0]?.message === cause.message ? found : [cause]
}
