import type { FinishedSpan, SpanLink } from './finished-span.js'
import type { Api, Context, SecondsAndNanoseconds, Span, SpanOptions, Tracer } from './port.js'

const SAMPLED = 1
const CLIENT = 2
const INTERNAL = 0
const FAILED = 2
const MS_A_SECOND = 1_000
const NS_A_MS = 1_000_000

type SpanAlone = Pick<FinishedSpan, 'name' | 'from' | 'to' | 'attributes' | 'error'>

/**
 * Writes spans that have ended through a tracer of OpenTelemetry.
 *
 * Owns: the context of the last parent, since the next span mostly has the same. A span has the id
 * that the run gives it: the span context that the SDK has made is given the id before the span
 * ends, which is when exporters get it.
 */
export class SpanWriter {
  readonly #api: Api
  readonly #tracer: Tracer
  #last:
    | { readonly traceId: string; readonly parent: string; readonly context: Context }
    | undefined

  constructor(api: Api, tracer: Tracer) {
    this.#api = api
    this.#tracer = tracer
  }

  /**
   * Begins the span of a run, and asks the sampler by it. The caller's trace is taken for sampled:
   * its flags are not kept.
   */
  begin(
    ids: { readonly traceId: string; readonly id: string; readonly parent: string | undefined },
    options: { readonly name: string; readonly from: number }
  ): Span {
    const { traceId, id, parent } = ids
    const context = this.#inside(traceId, parent)
    const startTime = timeOf(options.from)
    const span = this.#tracer.startSpan(options.name, { startTime, kind: INTERNAL }, context)
    named(span, traceId, id)
    return span
  }

  /** Ends the span of a run. */
  end(span: Span, { to, attributes, error }: FinishedSpan): void {
    span.setAttributes(attributes)
    if (error !== undefined) span.setStatus({ code: FAILED, message: error })
    span.end(timeOf(to))
  }

  /** Writes a span of a trace that is sampled. */
  write(traceId: string, finished: FinishedSpan): void {
    const { id, parent, name, isClient, from, to, attributes, error, events, link } = finished
    const kind = isClient ? CLIENT : INTERNAL
    const options: SpanOptions = { kind, startTime: timeOf(from), attributes }
    const linked = link === undefined ? options : { ...options, links: [{ context: link }] }
    const span = this.#tracer.startSpan(name, linked, this.#inside(traceId, parent))
    named(span, traceId, id)
    for (const event of events) span.addEvent(event.name, timeOf(event.at))
    if (error !== undefined) span.setStatus({ code: FAILED, message: error })
    span.end(timeOf(to))
  }

  /** Writes a span that belongs to no run: a trace of its own, with ids that the SDK gives. */
  writeAlone({ name, from, to, attributes, error }: SpanAlone): void {
    const { ROOT_CONTEXT } = this.#api
    const options: SpanOptions = { kind: INTERNAL, startTime: timeOf(from), attributes }
    const span = this.#tracer.startSpan(name, options, ROOT_CONTEXT)
    if (error !== undefined) span.setStatus({ code: FAILED, message: error })
    span.end(timeOf(to))
  }

  /** The span that is active where this is called. */
  active(): SpanLink | undefined {
    const { trace, context } = this.#api
    const found = trace.getSpanContext(context.active())
    if (found === undefined) return undefined
    const { traceId, spanId, traceFlags } = found
    return { traceId, spanId, traceFlags }
  }

  /** Inside of a span of a trace that is sampled. */
  #inside(traceId: string, parent: string | undefined): Context {
    const { trace, ROOT_CONTEXT } = this.#api
    if (parent === undefined) return ROOT_CONTEXT
    const last = this.#last
    if (last !== undefined && last.parent === parent && last.traceId === traceId) {
      return last.context
    }
    const span = { traceId, spanId: parent, traceFlags: SAMPLED }
    const context = trace.setSpanContext(ROOT_CONTEXT, span)
    this.#last = { traceId, parent, context }
    return context
  }
}

/** Whether a sampler has chosen a span, and with it what happens inside of it. */
export function isSampled(span: Span): boolean {
  return (span.spanContext().traceFlags & SAMPLED) === SAMPLED
}

/** The API lets the SDK alone choose ids; it hands out the object that holds them. */
function named(span: Span, traceId: string, id: string): void {
  if (!span.isRecording()) return
  const context = span.spanContext()
  context.traceId = traceId
  context.spanId = id
}

// A number would be taken for one of `performance.now()` where the process is younger than the run.
function timeOf(ms: number): SecondsAndNanoseconds {
  const seconds = Math.floor(ms / MS_A_SECOND)
  return [seconds, Math.round((ms - seconds * MS_A_SECOND) * NS_A_MS)]
}
