import {
  blockError,
  hashJson,
  type Json,
  type JsonObject,
  ledgerError,
  runtimeError
} from '../../../src/core/index.js'
import type { OwnerHandler, OwnerRequest } from '../../../src/ledger/index.js'
import type {
  ActorAt,
  FeedEvent,
  LogLine,
  Page,
  QueryRequests,
  QueueLine,
  ReceiptView,
  RunLine,
  ScheduleLine,
  ServiceRequests,
  VerificationProgress,
  WaitLine
} from '../../../src/runtime/index.js'
import { type Chained, callsAt, chainOf, evidenceOf, type FakeEvidence } from './fake-chain.js'
import { identity } from './fake-journals.js'
import { type FakeRun, fakeRuns } from './fake-runs.js'
import { agentRun, callsOfTurn } from './fake-turns.js'
import { fakeQueues, fakeSchedules } from './fake-work.js'

type Requests = ServiceRequests & QueryRequests
type Answered = {
  readonly [Method in keyof Requests]?: (
    params: Requests[Method]['params']
  ) => Requests[Method]['result']
}

/**
 * A ledger that was never written, behind the methods that the page asks: tests of the page give it
 * what no real ledger could have, and are independent of everything behind the console's server.
 */
export class FakeLedger {
  readonly runs: FakeRun[]
  readonly answers: Requests['message']['params'][] = []
  /** Receipt at which the verification finds damage, or none. */
  damagedAt: number | null = null
  /** Why nothing is written to it, where it is in safe mode. */
  safeModeCause: { readonly code: string; readonly message: string } | null = null
  /** It was opened without its key. */
  readOnly = false
  queues: readonly QueueLine[] = fakeQueues
  schedules: readonly ScheduleLine[] = fakeSchedules
  /** What it says of open runs. */
  toResume: readonly Json[] = []
  /** Whether it says how far a verification is: earlier versions do not. */
  saysProgress = true
  readonly #followers = new Set<(event: FeedEvent) => void>()
  readonly #altered = new Map<number, (receipt: ReceiptView['receipt']) => ReceiptView['receipt']>()
  #change = (wait: WaitLine['wait']) => wait
  readonly #chain: readonly Chained[]
  readonly #evidence: readonly FakeEvidence[]
  readonly methods: Answered

  constructor(runs: readonly FakeRun[] = [agentRun(), ...fakeRuns()]) {
    this.runs = [...runs]
    this.#chain = chainOf(this.runs)
    this.#evidence = evidenceOf(this.runs, this.#chain.length)
    this.methods = { ...this.#ofRuns(), ...this.#ofLedger() }
  }

  /** Log lines of what failed. */
  get evidence(): readonly LogLine[] {
    return this.#evidence.map(({ line }) => line)
  }

  /** What the console's server asks: a method of the service, one result or a stream. */
  readonly handle: OwnerHandler = (request) => {
    const { method, params } = request
    if (method === 'feed') return this.#feed(request)
    if (method === 'verifying' && this.saysProgress) return streamed(this.verifying())
    if (method === 'journal') {
      const { id, from } = params as { readonly id: string; readonly from?: number }
      return streamed(this.journal(id, from))
    }
    return this.#answer(method, params)
  }

  /** Gives an event to all that follow. */
  send(event: FeedEvent): void {
    for (const give of this.#followers) give(event)
  }

  async #answer(method: string, params: Json): Promise<Json> {
    const act = (this.methods as Readonly<Record<string, (params: Json) => unknown>>)[method]
    if (act === undefined) throw runtimeError('service.unknown_method', { method })
    return act(params) as Json
  }

  async *#feed({ signal }: OwnerRequest): AsyncGenerator<Json> {
    const waiting: FeedEvent[] = []
    let wake = () => {}
    const give = (event: FeedEvent) => {
      waiting.push(event)
      wake()
    }
    this.#followers.add(give)
    signal.addEventListener('abort', () => wake())
    while (!signal.aborted) {
      const event = waiting.shift()
      if (event !== undefined) yield event as unknown as JsonObject
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    this.#followers.delete(give)
  }

  /** Changes what is asked, while the page shows what was. */
  changeWaits(change: (wait: WaitLine['wait']) => WaitLine['wait']): void {
    this.#change = change
  }

  /** Lets a run that is running end. */
  finishRunning(id: string): FakeRun {
    const { view, ...run } = this.#run(id)
    const response = { success: true, data: {}, metadata: {} }
    run.journal.finishes('done', response)
    const updatedAt = run.journal.at
    const finished = { ...run, view: { ...view, status: 'done' as const, response, updatedAt } }
    this.runs.splice(
      this.runs.findIndex((one) => one.view.id === id),
      1,
      finished
    )
    return finished
  }

  /** Gives a receipt otherwise than it was signed. */
  alters(index: number, alter: (receipt: ReceiptView['receipt']) => ReceiptView['receipt']): void {
    this.#altered.set(index, alter)
  }

  /** So many runs more, all like the last. */
  repeat(count: number): void {
    const last = this.runs.at(-1)
    if (last === undefined) return
    for (let place = 0; place < count; place += 1) {
      const id = `${last.view.id}-${place}` as FakeRun['view']['id']
      this.runs.push({ ...last, view: { ...last.view, id } })
    }
  }

  line(run: FakeRun): RunLine {
    return lineOf(run)
  }

  journal(id: string, from = 0): readonly Json[] {
    return this.#run(id).journal.lines.slice(from) as unknown as readonly Json[]
  }

  *verifying(): Generator<VerificationProgress> {
    const total = this.#chain.length
    const end = this.damagedAt ?? total
    for (let done = 0; done < end; done += 16) yield { phase: 'records', done, total }
    yield { phase: 'done', done: end, total, report: this.#report() as never }
  }

  #report() {
    const receipts = this.damagedAt ?? this.#chain.length
    const anchored = { upTo: 0, logSize: this.#chain.length, notes: [], source: null }
    const counted = {
      evidence: 0,
      signatures: receipts,
      runs: 47,
      journalEntries: 412,
      stateEntries: 61
    }
    const failure = {
      index: receipts,
      commit: receipts,
      field: 'nextStateRoot',
      signed: hashJson('signed'),
      computed: hashJson('stored')
    }
    return {
      ok: this.damagedAt === null,
      receipts,
      ...counted,
      anchored,
      notChecked: [
        'no note given: a tail that was cut cannot be seen',
        'nothing was executed again'
      ],
      reexecuted: 0,
      line: this.damagedAt === null ? 'verify: ok' : `verify: FAILED at receipt ${receipts}`,
      ...(this.damagedAt === null ? {} : { failure })
    }
  }

  #run(id: string): FakeRun {
    const run = this.runs.find(({ view }) => view.id === id)
    if (run === undefined) throw blockError('run.not_found', { runId: id })
    return run
  }

  #ofRuns(): Answered {
    return {
      find: ({ status, name, text = '', limit = 50, cursor }) => {
        const found = this.runs
          .map(lineOf)
          .reverse()
          .filter((run) => (status ?? run.status) === run.status && (name ?? run.name) === run.name)
          .filter((run) => `${run.id} ${run.name}`.toLowerCase().includes(text.toLowerCase()))
        return pageOf(found, limit, cursor)
      },
      show: ({ id }) => this.#run(id).view,
      chart: ({ id }) => {
        const { view, graph } = this.#run(id)
        return { id: view.id, definitionHash: view.definitionHash, graph }
      },
      chartAt: ({ id, entry = Number.MAX_SAFE_INTEGER }) => {
        const run = this.#run(id)
        const at = Math.min(entry, run.journal.lines.length - 1)
        return {
          entry: at,
          at: run.view.updatedAt,
          actors: actorsAt(run, at),
          status: run.view.status
        }
      },
      calls: ({ id, path, step = 0 }) => {
        const calls = callsAt(this.#run(id), path, step)
        const isTurn = calls.length === 0 || calls.some(({ effect }) => effect === 'agent.turn')
        return isTurn ? callsOfTurn(path) : { calls, input: null, output: null, notChecked: [] }
      },
      counts: () => {
        const byStatus: Record<string, number> = {}
        for (const { view } of this.runs) byStatus[view.status] = (byStatus[view.status] ?? 0) + 1
        return { all: this.runs.length, byStatus }
      },
      waits: ({ limit = 50, cursor }) => pageOf(this.openWaits(), limit, cursor),
      message: (params) => {
        const wait = this.openWaits().find(({ wait: { token } }) => token === params.token)
        if (wait === undefined) return { accepted: false, reason: 'unknown_token' }
        if (wait.wait.digest !== params.digest)
          return { accepted: false, reason: 'digest_mismatch' }
        this.answers.push(params)
        return { accepted: true }
      },
      cancel: ({ id }) => this.#run(id).view
    }
  }

  #ofLedger(): Answered {
    return {
      status: () => ({
        identity: identity as never,
        mode: this.safeModeCause === null ? 'ready' : 'safe',
        cause: this.safeModeCause,
        causes: this.safeModeCause === null ? [] : [this.safeModeCause],
        receipts: this.#chain.length,
        epoch: 2,
        location: './ledger',
        process: 4242,
        readOnly: this.readOnly,
        isFollower: false,
        warnings: [],
        quarantined: []
      }),
      receipt: ({ hash, index }) => {
        const found = this.#chain.find(
          ({ view }) => view.index === index || view.receipt.receiptHash === hash
        )
        if (found === undefined)
          throw ledgerError('receipt.not_found', { which: hash ?? String(index) })
        const { view } = found
        const alter = this.#altered.get(view.index)
        return alter === undefined ? view : { ...view, receipt: alter(view.receipt) }
      },
      log: ({ before, from = 0, limit = 50 }) => {
        const lines = [...this.#chain, ...this.#evidence].map(({ line }) => line)
        const end = before ?? lines.length
        const start = Math.max(from, end - limit)
        const items = lines.slice(start, end).reverse()
        return { items, next: start === from ? null : String(start) }
      },
      proof: ({ leaf }) => {
        const found = this.#evidence.find(({ line }) => line.leaf === leaf)
        if (found === undefined) throw ledgerError('receipt.not_found', { which: String(leaf) })
        const leafHash = hashJson(found.record)
        return { leaf, record: found.record, leafHash, root: hashJson('root'), proof: [] }
      },
      verify: () => this.#report() as never,
      note: () => ({ note: `tallystick/${identity.slice(0, 8)}\n${this.#chain.length}\nroot` }),
      state: ({ asOf = this.#chain.length - 1, prefix = '', limit = 50, cursor }) => {
        const lines = this.#chain
          .slice(0, asOf + 1)
          .flatMap(({ view }) =>
            view.writeSet.map(({ key, after = null }) => ({ key, value: after, index: view.index }))
          )
        const latest = [...new Map(lines.map((line) => [line.key, line])).values()]
        const sorted = latest.sort((one, other) => (one.key < other.key ? -1 : 1))
        return pageOf(
          sorted.filter(({ key }) => key.startsWith(prefix)),
          limit,
          cursor
        )
      },
      stateHistory: ({ key }) => {
        const items = this.#chain.flatMap(({ view, line }) =>
          view.writeSet
            .filter((change) => change.key === key)
            .map(({ before = null, after = null }) => {
              const { receiptHash } = view.receipt
              const { at, runId } = line
              return { index: view.index, receiptHash, at, runId, before, after, removed: false }
            })
        )
        return { items: items.reverse(), next: null }
      },
      doctor: () => ({
        checks: this.safeModeCause === null ? checks : [safeModeCheck, ...checks]
      }),
      queues: () => ({ queues: this.queues }),
      schedules: () => ({ schedules: this.schedules }),
      grants: () => ({ items: [], next: null }),
      resumable: () => ({ runs: this.toResume, quarantined: [] }),
      locate: ({ text }) => ({
        found: [
          ...this.runs
            .filter(({ view }) => view.id.includes(text))
            .map(({ view }) => ({ kind: 'run' as const, id: view.id, name: view.name })),
          ...this.#chain
            .filter(({ view }) => `${view.index}` === text || view.receipt.receiptHash === text)
            .map(({ view }) => {
              const { index, receipt } = view
              return { kind: 'receipt' as const, index, hash: receipt.receiptHash }
            })
        ]
      })
    }
  }

  openWaits(): readonly WaitLine[] {
    return this.runs.flatMap(({ view, waits }) =>
      waits
        .filter(({ token }) => !this.answers.some((answer) => answer.token === token))
        .map((wait) => ({
          runId: view.id,
          runName: view.name,
          since: view.updatedAt,
          due: wait.due,
          wait: this.#change(wait),
          mayAnswer: { ok: true as const },
          notChecked: []
        }))
    )
  }
}

const checks: Requests['doctor']['result']['checks'] = [
  { name: 'Key', status: 'warning', message: 'plain text, mode 0600', fix: 'Use a passphrase.' },
  {
    name: 'Integrity lock',
    status: 'ok',
    message: 'the ledger stands where it was left',
    fix: null
  },
  { name: 'Last receipt', status: 'ok', message: 'executed again: the same result', fix: null },
  { name: 'Disk', status: 'ok', message: '58 400 MiB free', fix: null }
]

const safeModeCheck: (typeof checks)[number] = {
  name: 'Mode',
  status: 'failed',
  message: 'safe mode',
  fix: 'tally recover --cut'
}

function pageOf<Item>(all: readonly Item[], limit: number, cursor?: string): Page<Item> {
  const start = cursor === undefined ? 0 : Number(cursor)
  const end = start + limit
  return { items: all.slice(start, end), next: end < all.length ? String(end) : null }
}

function lineOf({ view, journal }: FakeRun): RunLine {
  const { id, name, status, startedAt, updatedAt, entries, waits, due, quarantined, notChecked } =
    view
  const receipts = journal.lines.filter(({ receiptHash }) => receiptHash !== null).length
  const { response } = view
  const failure = response !== null && !response.success ? String(response.reason) : null
  const base = {
    id,
    name,
    status,
    startedAt,
    updatedAt,
    entries,
    waits,
    due,
    quarantined,
    notChecked
  }
  return { ...base, receipts, failure, principal: { kind: 'owner', id: 'local' } }
}

/** Which actors are busy or wait after an entry, as the kernel's reducer would say. */
function actorsAt({ journal }: FakeRun, at: number): readonly ActorAt[] {
  const marks = new Map<string, ActorAt>()
  let root: ActorAt['mark'] = 'BUSY'
  for (const { entry } of journal.lines.slice(0, at + 1)) {
    const { k, path, step } = entry as { k: string; path?: string; step?: number }
    if (k === 'run.finished') root = 'READY'
    if (k === 'run.waiting') root = 'WAITING'
    if (path === undefined || step === undefined) continue
    const mark = k === 'settled' ? 'READY' : k === 'wait' || k === 'waiting' ? 'WAITING' : 'BUSY'
    marks.set(path, { path, mark, value: mark, step, attempt: 1, ended: null })
  }
  const own = { path: 'root', mark: root, value: root, step: 0, attempt: 1, ended: null }
  return [own, ...[...marks.values()].filter(({ path }) => path !== 'root')]
}

async function* streamed(events: Iterable<unknown>): AsyncGenerator<Json> {
  for (const event of events) yield event as Json
}
