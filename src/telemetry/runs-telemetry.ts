import type { RunObserver } from '../block/index.js'
import { limits, type RunId } from '../core/index.js'
import type { FinishedSpan, SpanLink } from './finished-span.js'
import { GuardedRun } from './guarded-run.js'
import type { Instruments } from './instruments.js'
import type { Span } from './port.js'
import { type RunOutlet, RunSpans } from './run-spans.js'
import type { RunIds } from './span-ids.js'
import { isSampled, type SpanWriter } from './span-writer.js'
import type { CommitSeen, RunningTelemetry, VerificationSeen } from './telemetry.js'

/** The trace of one run, as far as this process writes it. */
interface RunTraceHere {
  readonly ids: RunIds
  /** The run's own span, begun: the sampler was asked by it. */
  readonly span: Span
  readonly isSampled: boolean
  /** Spans of entries that are appended with what comes next. */
  readonly held: FinishedSpan[]
}

interface Pending {
  readonly trace: RunTraceHere
  readonly span: FinishedSpan
  readonly position: number
}

/**
 * The spans and metrics of all runs of one runtime.
 *
 * Owns: spans on their way, traces of runs that this process has moved. Does not own: the runs.
 *
 * - D2: a span leaves when the entry that ended it is durable; a poisoned ledger gives none.
 * - T4: what a tracer, meter or exporter throws changes no run.
 */
export class RunsTelemetry implements RunningTelemetry, RunOutlet {
  readonly instruments: Instruments
  readonly #writer: SpanWriter
  readonly #runs = new Map<string, { readonly spans: RunSpans; readonly guarded: RunObserver }>()
  readonly #traces = new Map<string, RunTraceHere>()
  /** Runs that rest, in that order. */
  readonly #resting = new Set<string>()
  readonly #answers = new Map<string, SpanLink>()
  #pending: Pending[] = []
  #durable = 0
  #hasWarned = false

  readonly isGenAi: boolean

  constructor(writer: SpanWriter, instruments: Instruments, { isGenAi = false } = {}) {
    this.isGenAi = isGenAi
    this.#writer = writer
    this.instruments = instruments
  }

  run(runId: RunId): RunObserver {
    const known = this.#runs.get(runId)
    if (known !== undefined) return known.guarded
    const spans = new RunSpans(runId, this)
    const guarded = new GuardedRun(spans, (work) => this.#safely(work))
    this.#runs.set(runId, { spans, guarded })
    // Until it moves.
    this.#rest(runId)
    return guarded
  }

  answering(token: string): void {
    this.#safely(() => {
      const link = this.#writer.active()
      if (link === undefined) return
      this.#answers.set(token, link)
      const [oldest = token] = this.#answers.keys()
      if (this.#answers.size > limits.CACHE_ENTRIES_MAX) this.#answers.delete(oldest)
    })
  }

  committed({ position, units, bytes, receipts, durationMs, at }: CommitSeen): void {
    this.#durable = position
    this.#safely(() => {
      this.instruments.commit(durationMs, units)
      this.#writer.writeAlone({
        name: 'commit',
        from: at - durationMs,
        to: at,
        attributes: {
          'tally.commit.units': units,
          'tally.commit.bytes': bytes,
          'tally.receipt.index': receipts - 1
        },
        error: undefined
      })
    })
    this.#release()
  }

  verified({ isOk, receipts, from, to }: VerificationSeen): void {
    const error = isOk ? undefined : 'verification_failed'
    const attributes = { 'tally.receipt.index': receipts - 1 }
    this.#safely(() => this.#writer.writeAlone({ name: 'verify', from, to, attributes, error }))
  }

  begin(run: string, ids: RunIds, { name, from }: { name: string; from: number }): boolean {
    this.#resting.delete(run)
    const known = this.#traces.get(run)
    if (known !== undefined) return known.isSampled
    const { traceId, root, caller } = ids
    const span = this.#writer.begin({ traceId, id: root, parent: caller }, { name, from })
    const trace = { ids, span, isSampled: isSampled(span), held: [] }
    this.#traces.set(run, trace)
    return trace.isSampled
  }

  put(run: string, span: FinishedSpan, position: number | undefined): void {
    const trace = this.#traces.get(run)
    if (trace === undefined || !trace.isSampled) return
    if (this.#pending.length >= limits.SPANS_BUFFERED_MAX) return this.#warn('too many wait')
    trace.held.push(span)
    if (position !== undefined) this.appended(run, position)
  }

  appended(run: string, position: number): void {
    const trace = this.#traces.get(run)
    if (trace === undefined || trace.held.length === 0) return
    for (const held of trace.held.splice(0)) this.#pending.push({ trace, span: held, position })
    if (position <= this.#durable) this.#release()
  }

  answerOf(token: string): SpanLink | undefined {
    const link = this.#answers.get(token)
    this.#answers.delete(token)
    return link
  }

  rested(run: string, hasEnded: boolean): void {
    if (hasEnded) {
      this.#runs.delete(run)
      this.#traces.delete(run)
      return
    }
    this.#rest(run)
  }

  /** Keeps what is open of a run that rests, as long as there are not too many. */
  #rest(run: string): void {
    this.#resting.add(run)
    if (this.#resting.size <= limits.CACHE_ENTRIES_MAX) return
    const [oldest = run] = this.#resting
    this.#resting.delete(oldest)
    this.#runs.get(oldest)?.spans.forget()
    this.#runs.delete(oldest)
    this.#traces.delete(oldest)
  }

  #release(): void {
    const pending = this.#pending
    this.#pending = pending.filter(({ position }) => position > this.#durable)
    for (const { trace, span, position } of pending) {
      if (position > this.#durable) continue
      this.#safely(() => {
        if (span.id === trace.ids.root) this.#writer.end(trace.span, span)
        else this.#writer.write(trace.ids.traceId, span)
      })
    }
  }

  #safely<Value>(work: () => Value): Value | undefined {
    try {
      return work()
    } catch (error) {
      this.#warn(error instanceof Error ? error.message : String(error))
      return undefined
    }
  }

  #warn(problem: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    process.emitWarning(`Telemetry is not complete: ${problem}`)
  }
}
