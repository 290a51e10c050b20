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

export interface Tracer {
  startSpan(name: string, options: SpanOptions, context: Context): Span
}

export interface SpanOptions {
  readonly kind: number
  readonly startTime: SecondsAndNanoseconds
  readonly attributes?: Attributes
  readonly links?: { readonly context: SpanLink }[]
}

export type SecondsAndNanoseconds = [seconds: number, nanoseconds: number]

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

export interface Meter {
  createUpDownCounter(name: string, options: MetricOptions): Adds
  createCounter(name: string, options: MetricOptions): Adds
  createHistogram(name: string, options: MetricOptions): Records
}

export interface MetricOptions {
  readonly unit: string
}

export interface Adds {
  add(value: number, attributes?: Attributes): void
}

export interface Records {
  record(value: number, attributes?: Attributes): void
}
