import type { EventEmitter } from 'eventemitter3'
import type { Position, PumpHost, RunStarted } from '../../block/index.js'
import { isOwner, isSamePrincipal } from '../../capability/index.js'
import { tagsOf } from '../../code/index.js'
import {
  blockError,
  canonicalize,
  canonicalizeLedgerValue,
  type Hash,
  isJsonObject,
  type Json,
  type JsonObject,
  ledgerError,
  limits,
  type Random,
  type RunId,
  type RunTrace,
  runtimeError,
  sha256Hex,
  shownText,
  type TallyError
} from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import { heldTerms, type QueueTerms, queueTermsFor } from '../../queue/index.js'
import type { RunningTelemetry } from '../../telemetry/index.js'
import type { Compiled, Prepared, PreparedRun } from '../code/prepared-run.js'
import type { Registry } from '../code/registry.js'
import type { DeliveredEvent } from './channel.js'
import type { RunResult } from './handle.js'
import { checkBytes } from './messages.js'
import type { Quarantine } from './quarantine.js'
import type { WrittenInputs } from './written-inputs.js'

/** What every run of a ledger is handed, and what sees the runs. */
export interface RunsHost extends Omit<PumpHost, 'emit' | 'observer'> {
  readonly telemetry: RunningTelemetry | undefined
}

export interface RunsOptions {
  readonly ledger: Ledger
  readonly registry: Registry
  readonly host: RunsHost
  /** Names what callers give no name. */
  readonly random: Random
  /** Called when a step of a run has changed the tables of the kernel, and where that stands. */
  readonly onIntentWork?: (position: Position) => void
  /** Which runs came out otherwise, and must not continue. */
  readonly quarantine: Pick<Quarantine, 'check' | 'holds' | 'refusal' | 'failed' | 'refuses'>
  readonly events: EventEmitter<{ event: (event: DeliveredEvent) => void }>
}

export interface StartTerms {
  readonly inputs: Json
  /** The inputs, where they were written before; {@link inputs} is not looked at then. */
  readonly written?: WrittenInputs | undefined
  readonly principal: Json
  /** Context of the root's request (B1). Default: none. */
  readonly context?: JsonObject | undefined
  /** Trace of the caller: W3C `traceparent`, or its ids. */
  readonly trace?: TraceOption | undefined
  /** By which the run is found, in any order. */
  readonly tags?: readonly string[] | undefined
  /** Under whose key it is kept. */
  readonly subject?: string | undefined
  /** In which queue it waits for its turn; by default, that of its workflow in code. */
  readonly queue?: string | QueueTerms | undefined
  /** The run whose workflow waits for it: it has its turn with that one. */
  readonly parent?: RunId | undefined
  /** The id is a new one: no ledger can have it. */
  readonly isNew?: boolean
}

/** A trace that a caller gives: a W3C `traceparent`, or its ids in lower-case hex. */
export type TraceOption = string | RunTrace

/** What a run is started with, checked and copied. */
export class Start {
  readonly principal: Json
  readonly isNew: boolean
  /** Canonical JSON of the inputs. */
  readonly text: string
  readonly trace: RunTrace | undefined
  /** Sorted, each once; undefined: none. */
  readonly tags: readonly string[] | undefined
  readonly subject: string | undefined
  readonly queue: QueueTerms | undefined
  readonly parent: RunId | undefined
  /** Canonical JSON of the context; undefined when it is empty. */
  readonly contextText: string | undefined
  #inputs: Json | undefined
  #context: JsonObject | undefined
  #inputHash: Hash | undefined

  /** Throws for inputs and for a context that a journal cannot keep. */
  constructor(terms: StartTerms) {
    const { inputs, written, principal, context, trace, tags = [], queue, isNew = false } = terms
    this.text = written?.text ?? canonicalizeLedgerValue(inputs)
    this.#inputs = written?.value
    checkBytes('The inputs of a run in bytes', this.text)
    this.contextText = context === undefined ? undefined : contextTextOf(context)
    this.trace = trace === undefined ? undefined : traceOf(trace)
    const sorted = tagsOf(tags)
    this.tags = sorted.length === 0 ? undefined : sorted
    this.subject = subjectOf(terms.subject)
    this.queue = queue === undefined ? undefined : queueTermsOf(queue)
    this.parent = terms.parent
    this.principal = principal
    this.isNew = isNew
  }

  /**
   * A copy, with its keys in one order: the caller's object may change, and must not change the
   * run.
   */
  get inputs(): Json {
    this.#inputs ??= JSON.parse(this.text) as Json
    return this.#inputs
  }

  /** A copy too; undefined when it is empty. */
  get context(): JsonObject | undefined {
    if (this.contextText === undefined) return undefined
    this.#context ??= JSON.parse(this.contextText) as JsonObject
    return this.#context
  }

  get inputHash(): Hash {
    this.#inputHash ??= sha256Hex(this.text)
    return this.#inputHash
  }
}

function contextTextOf(context: JsonObject): string | undefined {
  const text = canonicalizeLedgerValue(context)
  if (!isJsonObject(JSON.parse(text) as Json)) {
    throw blockError('run.invalid_context', { problem: 'it is no object' })
  }
  checkBytes('The context of a run in bytes', text)
  return text === '{}' ? undefined : text
}

/** Throws `run.invalid_subject`. */
function subjectOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  // A caller of another process may give anything.
  const { length } = typeof given === 'string' ? given : ''
  if (length > 0 && length <= limits.SUBJECT_LENGTH_MAX) return given
  throw runtimeError('run.invalid_subject', { max: limits.SUBJECT_LENGTH_MAX })
}

/** Throws `run.invalid_queue`. */
function queueTermsOf(given: string | QueueTerms): QueueTerms {
  const terms = heldTerms(given)
  if ('problem' in terms) throw runtimeError('run.invalid_queue', { problem: terms.problem })
  return terms
}

const ids = { trace: /^(?!0+$)[0-9a-f]{32}$/, span: /^(?!0+$)[0-9a-f]{16}$/ }

/** Throws `run.invalid_trace`. */
function traceOf(given: TraceOption): RunTrace {
  const { traceId, spanId } = typeof given === 'string' ? parentOf(given) : given
  if (!ids.trace.test(shownText(traceId))) throw invalidTrace('the trace id')
  if (spanId === undefined) return { traceId }
  if (!ids.span.test(shownText(spanId))) throw invalidTrace('the span id')
  return { spanId, traceId }
}

/** `00-<trace id>-<span id>-<flags>`; later versions may add to it. */
function parentOf(text: string): RunTrace {
  const [version = '', traceId = '', spanId = '', flags = ''] = text.split('-')
  const isKnown = /^(?!ff)[0-9a-f]{2}$/.test(version) && /^[0-9a-f]{2}$/.test(flags)
  if (!isKnown || (version === '00' && text.length !== 55)) throw invalidTrace('the traceparent')
  return { traceId, spanId }
}

function invalidTrace(what: string): TallyError {
  return blockError('run.invalid_trace', { problem: `${what} is not of W3C Trace Context` })
}

/** The queue in which a new run waits: as its start says, or as its workflow in code does. */
export function queueOfRun(prepared: Compiled, start: Start): QueueTerms | undefined {
  if (start.queue !== undefined || start.parent !== undefined) return start.queue
  const queue = 'queue' in prepared ? prepared.queue : undefined
  return queue && queueTermsFor(queue, start.inputs)
}

/** What a run may begin with, or the result of one that cannot begin. */
export function acceptable(
  runId: RunId,
  prepared: PreparedRun,
  start: Pick<Start, 'inputs' | 'principal'>
):
  | { readonly prepared: Compiled; readonly refused?: never }
  | { readonly prepared?: never; readonly refused: RunResult } {
  if (!prepared.ok) return { refused: refusedDocument(runId, prepared) }
  if ('ownersAlone' in prepared && !isOwner(start.principal)) {
    const diagnostics = prepared.ownersAlone?.() ?? []
    const refusal = { ok: false, diagnostics } as const
    if (diagnostics.length > 0) return { refused: refusedDocument(runId, refusal) }
  }
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

/** The same id stands for the same work of the same principal (L6). Throws `run.id_reused`. */
export function checkSame(
  record: RunRecord,
  prepared: PreparedRun,
  start: Pick<Start, 'inputHash' | 'contextText' | 'principal' | 'subject'>
): void {
  const { inputHash, contextText, principal, subject } = start
  const started = record.started as unknown as RunStarted
  const { runId } = record
  // Whose run it is comes first: what another has started is not to be compared with (K13).
  if (!isSamePrincipal(started.principal, principal)) {
    throw blockError('run.id_reused', { runId, what: 'principal' })
  }
  // Nothing tells any more whether it is the same work, and it is not done again.
  if (record.isErased) throw ledgerError('ledger.erased', { what: `Run ${runId}` })
  // What is there would not be erased with the subject that is meant.
  if (subject !== undefined && started.subject !== subject) {
    throw blockError('run.id_reused', { runId, what: 'subject' })
  }
  if (started.inputHash !== inputHash) {
    throw blockError('run.id_reused', { runId, what: 'input' })
  }
  const context = started.context === undefined ? undefined : canonicalize(started.context)
  if (context !== contextText) throw blockError('run.id_reused', { runId, what: 'context' })
  // The hash covers versions: a document that says the same is the same, whatever is deployed.
  if (prepared.ok && started.definitionHash === prepared.root.definitionHash) return
  const definition = prepared.ok ? prepared.root.definition : prepared.definition
  if (definition === undefined || !isSameJson(started.definition, definition)) {
    throw blockError('run.id_reused', { runId, what: 'document' })
  }
}

// Definitions are plain JSON by construction; their types only name the members.
function isSameJson(one: unknown, other: unknown): boolean {
  return canonicalize(one as Json) === canonicalize(other as Json)
}
