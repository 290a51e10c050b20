import {
  loneUnitId,
  type OpenWait,
  type Position,
  type RunPump,
  type RunStarted,
  runUnitId
} from '../block/index.js'
import {
  canonicalize,
  type Hash,
  type Json,
  type RunId,
  TallyError,
  type UnitId
} from '../core/index.js'
import { isIntentDefinition } from '../intent/index.js'
import type { Ledger, Receipt, RunRecord } from '../ledger/index.js'
import type { DeliveredEvent, EventChannel } from './channel.js'
import { isEnded } from './ended.js'
import type { RunResult } from './handle.js'
import type { Prepared, PreparedRun } from './prepared-run.js'
import { checkShown, type ShownLedger } from './shown.js'

export { isEnded } from './ended.js'

export type Compiled = PreparedRun & { readonly ok: true }

/** A run in memory: a pump drives it, or it has come to its end and that is not durable yet. */
export interface LiveRun {
  /** Undefined when nothing drives it any more. */
  readonly pump: RunPump | undefined
  /** Up to where the ledger must be durable before anybody may hear how it stands (D2). */
  readonly position: Position
  /** Resolves when it has left memory. */
  readonly over: Promise<void>
}

/**
 * A run that this process knows: its events and its result, whether it is live or parked.
 *
 * Owns: the channel and the promise, both made when somebody asks: most intents need neither.
 */
export class Known {
  /** Settles once it is known whether the run began, or is the one that has this id. */
  begun: Promise<void> = alreadyBegun
  live: LiveRun | undefined
  /** Taking it up again is under way. */
  resuming: Promise<void> | undefined
  callOffDue: (() => void) | undefined
  /** Told of every wait that a message can end, with what must be durable before it is told on. */
  onWait: ((wait: OpenWait, position: Position) => void) | undefined
  readonly #makeChannel: () => EventChannel
  readonly #hasListener: boolean
  #channel: EventChannel | undefined
  #result: PromiseWithResolvers | undefined
  #settled: Settled | undefined

  constructor(makeChannel: () => EventChannel, hasListener: boolean) {
    this.#makeChannel = makeChannel
    this.#hasListener = hasListener
  }

  get channel(): EventChannel {
    if (this.#channel === undefined) {
      this.#channel = this.#makeChannel()
      if (this.#settled !== undefined) this.#channel.close()
    }
    return this.#channel
  }

  /** Whether it has come to its end already, which is told once it is durable. */
  get hasEnded(): boolean {
    return this.live !== undefined && this.live.pump === undefined
  }

  /** Whether anybody may hear its events. */
  get isHeard(): boolean {
    return this.#hasListener || this.#channel !== undefined
  }

  get result(): { readonly promise: Promise<RunResult> } {
    if (this.#result === undefined) {
      this.#result = resolvers()
      if (this.#settled !== undefined) settleWith(this.#result, this.#settled)
    }
    return this.#result
  }

  /** The same run for a second caller, who may hear that it is refused. */
  again(begun: Promise<void>, promise: Promise<RunResult>): Known {
    const known = new Known(() => this.channel, this.#hasListener)
    known.begun = begun
    known.#result = { promise, resolve: () => undefined, reject: () => undefined }
    return known
  }

  /** Has one more listener told of every wait that a message can end. */
  whenWaiting(listener: NonNullable<Known['onWait']>): void {
    const earlier = this.onWait
    this.onWait = (wait, position) => {
      earlier?.(wait, position)
      listener(wait, position)
    }
  }

  /** Hands an event on once it is durable; nobody hears it, as a rule. */
  emit(event: DeliveredEvent, position: Position): void {
    if (this.isHeard) this.channel.emit(event, position)
  }

  /** Hands on news that are no history. */
  tell(event: DeliveredEvent): void {
    if (this.isHeard) this.channel.tell(event)
  }

  /** The first one counts. */
  settle(how: Settled): void {
    this.#settled ??= how
    if (this.#result !== undefined) settleWith(this.#result, how)
    this.#channel?.close()
  }
}

/** How a run came to its result, or why it has none. */
export type Settled = { readonly result: RunResult } | { readonly error: unknown }

const alreadyBegun = Promise.resolve()

interface PromiseWithResolvers {
  readonly promise: Promise<RunResult>
  resolve(result: RunResult): void
  reject(error: unknown): void
}

function settleWith({ resolve, reject }: PromiseWithResolvers, how: Settled): void {
  if ('result' in how) resolve(how.result)
  else reject(how.error)
}

/** How a run in the ledger stands is told once it was looked at. */
export async function* whenBegun(
  known: Known,
  events: AsyncGenerator<DeliveredEvent>
): AsyncGenerator<DeliveredEvent> {
  const first = events.next()
  first.catch(() => undefined)
  try {
    await known.begun
    for (let next = await first; next.done !== true; next = await events.next()) yield next.value
  } finally {
    void events.return(undefined)
  }
}

/** Whether a run is a lone intent. */
export function isIntentRun(record: RunRecord): boolean {
  return isIntentDefinition(record.started['definition'])
}

/** The unit of work whose receipt ends a run. */
export function endingUnit(record: RunRecord): UnitId {
  return isIntentRun(record) ? loneUnitId(record.runId) : runUnitId(record.runId)
}

/** The result of a run that has ended, as its last entry tells it. */
export function resultOf(
  runId: RunId,
  record: RunRecord,
  receipt?: Pick<Receipt, 'receiptHash' | 'dappId'>
): RunResult {
  const { status, response } = record.last as unknown as RunResult
  if (receipt === undefined) return { id: runId, status, response }
  const { receiptHash, dappId } = receipt
  const by = isIntentRun(record) ? { dappId } : {}
  return { id: runId, status, response, receiptHash, ...by }
}

/**
 * The result of a run of the ledger, compared with what is signed if it is shown (L12). One that
 * is only taken up is not: its pump looks at the journal before it goes on.
 */
export async function resultIn(
  ledger: ShownLedger & Pick<Ledger, 'unit'>,
  record: RunRecord,
  { isShown }: { readonly isShown: boolean }
): Promise<RunResult | undefined> {
  const hasEnded = isEnded(record)
  const completed = hasEnded ? await ledger.unit(endingUnit(record)) : undefined
  if (isShown) await checkShown(ledger, record, completed)
  return hasEnded ? resultOf(record.runId, record, completed?.receipt) : undefined
}

function resolvers(): PromiseWithResolvers {
  let resolve: (result: RunResult) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<RunResult>((yes, no) => {
    resolve = yes
    reject = no
  })
  // Whoever does not ask for the result must not be stopped by it.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}

/** What a run may begin with, or the result of one that cannot begin. */
export function acceptable(
  runId: RunId,
  prepared: PreparedRun,
  start: { readonly inputs: Json }
):
  | { readonly prepared: Compiled; readonly refused?: never }
  | { readonly prepared?: never; readonly refused: RunResult } {
  if (!prepared.ok) return { refused: refusedDocument(runId, prepared) }
  const problems = 'checkInputs' in prepared ? (prepared.checkInputs?.(start.inputs) ?? []) : []
  if (problems.length === 0) return { prepared }
  const diagnostics = problems.map(({ name, problem }): Json => {
    return { reason: 'invalid_input', path: ['inputs', name], message: problem }
  })
  return { refused: refused(runId, 'invalid_input', diagnostics) }
}

function refusedDocument(runId: RunId, prepared: Prepared & { readonly ok: false }): RunResult {
  const diagnostics = prepared.diagnostics.map(({ path, ...rest }) => ({
    ...rest,
    path: path.map(String)
  }))
  const first = prepared.diagnostics[0]?.reason
  const reason = first === 'condition_resolution_error' ? first : 'invalid_graph'
  // Diagnostics are plain data; their type only has optional members besides.
  return refused(runId, reason, diagnostics as unknown as Json)
}

/** A run that cannot begin fails like any other, and nothing is recorded (B4). */
function refused(
  runId: RunId,
  reason: 'condition_resolution_error' | 'invalid_graph' | 'invalid_input',
  diagnostics: Json
): RunResult {
  const errorType = reason === 'invalid_input' ? 'InvalidInput' : 'InvalidDocument'
  const response = { success: false, data: null, reason, errorType, metadata: {} } as const
  return { id: runId, status: 'failed', response: { ...response, details: { diagnostics } } }
}

/** The same id stands for the same work (L6). Throws `run.id_reused`. */
export function checkSame(
  record: RunRecord,
  prepared: PreparedRun,
  { inputHash, contextText }: { readonly inputHash: Hash; readonly contextText: string | undefined }
): void {
  const started = record.started as unknown as RunStarted
  const { runId } = record
  if (started.inputHash !== inputHash) {
    throw new TallyError('run.id_reused', { runId, what: 'input' })
  }
  const context = started.context === undefined ? undefined : canonicalize(started.context)
  if (context !== contextText) throw new TallyError('run.id_reused', { runId, what: 'context' })
  // The hash covers versions: a document that says the same is the same, whatever is deployed.
  if (prepared.ok && started.definitionHash === prepared.root.definitionHash) return
  const definition = prepared.ok ? prepared.root.definition : prepared.definition
  if (definition === undefined || !isSameJson(started.definition, definition)) {
    throw new TallyError('run.id_reused', { runId, what: 'document' })
  }
}

// Definitions are plain JSON by construction; their types only name the members.
function isSameJson(one: unknown, other: unknown): boolean {
  return canonicalize(one as Json) === canonicalize(other as Json)
}
