import { realpath } from 'node:fs/promises'
import {
  type Clock,
  checkSafeMode,
  errorNumber,
  type IdentityId,
  type Json,
  ledgerError,
  limits,
  type Random,
  refusedError,
  runtimeError,
  systemClock,
  systemRandom
} from '../core/index.js'
import type {
  ErasedSubject,
  FollowedEntry,
  FollowOptions,
  OutsideState,
  Queries,
  QueryRequests,
  QueryStreams,
  RunFilter,
  RunLine,
  RunResult,
  RunView,
  ServiceEvent,
  ServiceRequests,
  ServiceStreams,
  SignalOptions,
  StartedRun
} from '../runtime/index.js'
import type {
  CallOptions,
  Client,
  ClientAnswer,
  ClientStartOptions,
  ConnectOptions
} from './client-api.js'
import { Link } from './link.js'

/**
 * Connects to the process that holds a ledger; it may come within `waitMs`.
 * Throws `ledger.not_found` (no such directory), `owner.absent`, `ledger.locked` (its holder serves
 * nothing), `owner.wrong_ledger` (also where its holder does not answer for the identity that is
 * asked for), `owner.malformed_message`, `ledger.identity_missing`.
 */
export async function connect(
  options: ConnectOptions,
  {
    clock = systemClock,
    random = systemRandom
  }: { readonly clock?: Clock; readonly random?: Random } = {}
): Promise<Client> {
  const { location, identity: named, waitMs = limits.CLIENT_WAIT_MS, signal } = options
  const link = new Link({ realPath: await realPathOf(location), waitMs, clock, identity: named })
  try {
    const { identity } = await link.connected(signal)
    return new LinkedClient(link, { identity, random })
  } catch (error) {
    link.close()
    throw error
  }
}

type Requested<Method extends keyof ServiceRequests> = ServiceRequests[Method]['result']

class LinkedClient implements Client {
  readonly identity: IdentityId
  readonly queries: Queries
  readonly state: OutsideState
  readonly #link: Link
  readonly #random: Random

  constructor(
    link: Link,
    { identity, random }: { readonly identity: IdentityId; readonly random: Random }
  ) {
    this.#link = link
    this.identity = identity
    this.#random = random
    this.queries = this.#queries()
    this.state = {
      get: async (key) => (await this.#request('stateValue', { key })).value,
      list: (prefix = '', { limit, after } = {}) =>
        this.#request('stateValues', {
          prefix,
          ...present({ limit, after: after ?? undefined })
        })
    }
  }

  start(document: string | Json, options?: ClientStartOptions): Promise<StartedRun> {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    return this.#start({ document: text }, options)
  }

  startWorkflow(name: string, options?: ClientStartOptions): Promise<StartedRun> {
    return this.#start({ workflow: name }, options)
  }

  async #start(
    what: { readonly document: string } | { readonly workflow: string },
    options: ClientStartOptions = {}
  ): Promise<StartedRun> {
    const { id = this.#random.uuid(), signal, ...terms } = options
    const { inputs, context, trace, tags, subject, queue, ...others } = terms
    const [unknown] = Object.keys(others)
    if (unknown !== undefined) {
      const problem = `its options have ${unknown}, which is none`
      throw runtimeError('run.invalid_options', { problem })
    }
    const given = present({ inputs, context, trace, tags, subject, queue })
    const params = { ...what, id, ...given }
    const started = await this.#request('start', params, signal)
    if ('refused' in started) throw refusedError(started.refused)
    return started
  }

  async result(id: string, { signal }: CallOptions = {}): Promise<RunResult> {
    const params = { id, follow: true }
    for await (const event of this.#stream('events', () => params, { signal })) {
      if (event.type === 'run.finished') return resultOf(event)
    }
    // A stream of events ends with the end of its run.
    throw ledgerError('owner.malformed_message', { problem: 'it told no end of the run' })
  }

  signal(
    id: string,
    name: string,
    value?: Json,
    { id: signalId = this.#random.uuid(), by, signal }: SignalOptions & CallOptions = {}
  ) {
    const params = { id, name, signalId, ...present({ value, by }) }
    return this.#request('signal', params, signal)
  }

  async query(id: string, key: string, { signal }: CallOptions = {}): Promise<Json | undefined> {
    return (await this.#request('published', { id, key }, signal)).value
  }

  async queues(name?: string) {
    return (await this.queries.queues(present({ name }))).queues
  }

  async *follow(id: string, { after, signal }: FollowOptions = {}): AsyncGenerator<FollowedEntry> {
    let last = after
    const behind = () => ({ id, ...present({ after: last }) })
    try {
      for (let ends = 0; ends <= limits.CLIENT_REPEATS_MAX; ends += 1) {
        for await (const followed of this.#stream('follow', behind, { signal })) {
          last = followed.place
          ends = 0
          yield followed
          if (followed.entry['k'] === 'run.finished') return
        }
        // One that follows behind the last entry has nothing to get; others were left by an owner
        // that closed, and go on with the next one.
        if (isEnded(await this.run(id, { ...present({ signal }) }))) return
      }
    } catch (error) {
      if (signal?.aborted !== true) throw error
    }
  }

  answer(id: string, token: string, { signal, ...answer }: ClientAnswer) {
    const { digest, action, by, value, approval } = answer
    const { commandId = this.#random.uuid() } = answer
    const params = { id, token, digest, action, commandId }
    return this.#request('message', { ...params, ...present({ by, value, approval }) }, signal)
  }

  cancel(id: string, { reason, signal }: CallOptions & { readonly reason?: string } = {}) {
    return this.#request('cancel', { id, ...present({ reason }) }, signal)
  }

  intent(request: ServiceRequests['intent']['params'], { signal }: CallOptions = {}) {
    return this.#request('intent', { id: this.#random.uuid(), ...request }, signal)
  }

  async erase(
    subject: string,
    { dryRun = false, signal }: Parameters<Client['erase']>[1] = {}
  ): Promise<ErasedSubject> {
    const payload = { subject, ...(dryRun ? { dryRun } : {}) }
    const reply = await this.intent({ action: 'system.erase', payload }, present({ signal }))
    if (reply.type === 'error') {
      checkSafeMode(reply)
      throw ledgerError('ledger.not_erased', { problem: reply.message })
    }
    // What an owner answers of this intent.
    const { key, runs, entries, archived } = reply as unknown as ErasedSubject
    const { stateKeys, schedules, kept } = reply as unknown as ErasedSubject
    return { key, runs, entries, archived, stateKeys, schedules, kept }
  }

  run(id: string, { signal }: CallOptions = {}) {
    return this.#request('show', { id }, signal)
  }

  async *runs({ signal, ...filter }: RunFilter & CallOptions = {}): AsyncGenerator<RunLine> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const params = { ...filter, ...present({ cursor }) }
      const { items, next } = await this.#request('find', params, signal)
      yield* items
      cursor = next
    }
  }

  verify({ signal, ...asked }: Parameters<Client['verify']>[0] = {}) {
    const { reexecute: replay = true, executions, archives, notes = [] } = asked
    const given = notes.map((note, index) =>
      typeof note === 'string' ? { source: `note ${index + 1}`, text: note } : note
    )
    const params = { replay, notes: given, ...present({ executions, archives }) }
    return this.#request('verify', params, signal)
  }

  status({ signal }: CallOptions = {}) {
    return this.#request('status', {}, signal)
  }

  async close(): Promise<void> {
    this.#link.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#link.close()
  }

  #queries(): Queries {
    const requests = Object.keys(requestNames).map((name) => {
      const method = name as keyof QueryRequests
      const ask = (params: object = {}) => this.#request(method, params as never)
      return [method, ask]
    })
    const streams = {
      verifying: (params: QueryStreams['verifying']['params'] = {}) =>
        this.#stream('verifying', () => params, { isContinued: false }),
      feed: (params: QueryStreams['feed']['params'] = {}) => this.#feed(params),
      follow: ({ id, after }: QueryStreams['follow']['params']) => this.follow(id, { after })
    }
    return { ...Object.fromEntries(requests), ...streams } as Queries
  }

  /** Everything has one place: the next owner continues behind the last one. */
  async *#feed(params: QueryStreams['feed']['params']) {
    let { since } = params
    const behind = () => ({ ...params, ...present({ since }) })
    for await (const event of this.#stream('feed', behind, {})) {
      if ('place' in event) since = event.place
      yield event
    }
  }

  // Results and parameters are plain JSON; their types only name the members.
  #request<Method extends keyof ServiceRequests>(
    method: Method,
    params: ServiceRequests[Method]['params'],
    signal?: AbortSignal
  ): Promise<Requested<Method>> {
    return this.#link.request(method, params as Json, signal) as Promise<unknown> as never
  }

  #stream<Method extends keyof ServiceStreams>(
    method: Method,
    params: () => ServiceStreams[Method]['params'],
    {
      isContinued = true,
      signal
    }: { readonly isContinued?: boolean; readonly signal?: AbortSignal | undefined }
  ): AsyncGenerator<ServiceStreams[Method]['event']> {
    const asked = { method, params: () => params() as Json, isContinued, signal }
    return this.#link.stream(asked) as AsyncGenerator<unknown> as never
  }
}

// A record of all names: a query that the runtime gains and this lacks does not compile.
const requestNames: Readonly<Record<keyof QueryRequests, true>> = {
  find: true,
  counts: true,
  waits: true,
  chart: true,
  chartAt: true,
  calls: true,
  signals: true,
  exceptions: true,
  log: true,
  proof: true,
  state: true,
  stateHistory: true,
  stateProof: true,
  doctor: true,
  queues: true,
  schedules: true,
  grants: true,
  resumable: true,
  locate: true
}

/** Members that are there: an owner refuses names that it does not know, and JSON has no others. */
function present<Members extends object>(
  members: Members
): { [Key in keyof Members]: Exclude<Members[Key], undefined> } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as never
}

function isEnded({ status }: RunView): boolean {
  return status !== 'running' && status !== 'waiting'
}

function resultOf(event: ServiceEvent & { readonly type: 'run.finished' }): RunResult {
  const { runId: id, status, response, receiptHash } = event
  const hash = receiptHash === undefined ? {} : { receiptHash }
  return { id, status, response, ...hash }
}

async function realPathOf(directory: string): Promise<string> {
  try {
    return await realpath(directory)
  } catch (error) {
    const kind = errorNumber(error)
    if (kind !== 'ENOENT' && kind !== 'ENOTDIR') throw error
    throw ledgerError('ledger.not_found', { path: directory }, { cause: error })
  }
}
