import type { Attributes, SpanLink } from './finished-span.js'

/**
 * The part of `@opentelemetry/api` that is used, in types of our own: those who install tallystick
 * compile without it.
 */
export interface Api {
  readonly trace: Tracers & {
    getSpanContext(context: Context): SpanLink | undefined
    setSpanContext(context: Context, spanContext: SpanLink): Context
  }
  readonly metrics: Meters
  readonly context: { active(): Context }
  readonly ROOT_CONTEXT: Context
}

/** What a span is begun in. */
export interface Context {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): Context
  deleteValue(key: symbol): Context
}

/** A provider of tracers, as OpenTelemetry's SDK has it. */
export interface Tracers {
  getTracer(name: string, version?: string): Tracer
}

/** The tracer of OpenTelemetry, as far as it is used here. */
export interface Tracer {
  startSpan(name: string, options: SpanOptions, context: Context): Span
}

/** What a span begins with. */
export interface SpanOptions {
  readonly kind: number
  readonly startTime: SecondsAndNanoseconds
  readonly attributes?: Attributes
  readonly links?: { readonly context: SpanLink }[]
}

/** A time as OpenTelemetry takes it: `hrtime` since 1970-01-01 UTC. */
export type SecondsAndNanoseconds = [seconds: number, nanoseconds: number]

/** The span of OpenTelemetry, as far as it is used here. */
export interface Span {
  spanContext(): { traceId: string; spanId: string; traceFlags: number }
  isRecording(): boolean
  setAttributes(attributes: Attributes): unknown
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  addEvent(name: string, time: SecondsAndNanoseconds): unknown
  end(time: SecondsAndNanoseconds): void
}

/** A provider of meters, as OpenTelemetry's SDK has it. */
export interface Meters {
  getMeter(name: string, version?: string): Meter
}

/** The meter of OpenTelemetry, as far as it is used here. */
export interface Meter {
  createUpDownCounter(name: string, options: MetricOptions): Adds
  createCounter(name: string, options: MetricOptions): Adds
  createHistogram(name: string, options: MetricOptions): Records
}

/** What a metric is measured in. */
export interface MetricOptions {
  readonly unit: string
}

/** The counter of OpenTelemetry, as far as it is used here. */
export interface Adds {
  add(value: number, attributes?: Attributes): void
}

/** The histogram of OpenTelemetry, as far as it is used here. */
export interface Records {
  record(value: number, attributes?: Attributes): void
}
