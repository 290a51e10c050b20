import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor
} from '@opentelemetry/sdk-trace-base'
import { openTelemetry, type Telemetry } from '../../src/telemetry/index.js'

const NEVER_MS = 2 ** 31 - 1

/** A span as tests compare it. */
export interface SeenSpan {
  readonly name: string
  readonly traceId: string
  readonly id: string
  readonly parent: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
}

interface SpansOptions {
  readonly sampler?: Sampler
  readonly genAi?: boolean
}

/** Telemetry into memory, by the SDK of OpenTelemetry. */
export class SpansInMemory {
  readonly #exporter = new InMemorySpanExporter()
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metrics,
    exportIntervalMillis: NEVER_MS
  })
  readonly tracers: BasicTracerProvider
  readonly telemetry: Telemetry

  constructor({ genAi = false, ...options }: SpansOptions = {}) {
    const spanProcessors = [new SimpleSpanProcessor(this.#exporter)]
    this.tracers = new BasicTracerProvider({ spanProcessors, ...options })
    const meterProvider = new MeterProvider({ readers: [this.#reader] })
    this.telemetry = openTelemetry({ tracerProvider: this.tracers, meterProvider, genAi })
  }

  get spans(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans()
  }

  /** Of runs: without those of commits and verifications. */
  ofRuns(): readonly SeenSpan[] {
    return this.spans.map(seen).filter(({ name }) => name !== 'commit' && name !== 'verify')
  }

  named(name: string): SeenSpan {
    const found = this.ofRuns().filter((span) => span.name === name)
    const [span] = found
    if (span === undefined || found.length !== 1) {
      throw new Error(`${found.length} spans are named ${name}`)
    }
    return span
  }

  /** All that metrics say by now, as text. */
  async metricsText(): Promise<string> {
    await this.#reader.forceFlush()
    return JSON.stringify(this.#metrics.getMetrics())
  }

  /** Sum or count of what a metric has by now. */
  async metric(name: string): Promise<number> {
    await this.#reader.forceFlush()
    const last = this.#metrics.getMetrics().at(-1)
    const found = last?.scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .find(({ descriptor }) => descriptor.name === name)
    const values = (found?.dataPoints ?? []).map(({ value }) =>
      typeof value === 'number' ? value : value.count
    )
    return values.reduce((sum, value) => sum + value, 0)
  }
}

export function seen(span: ReadableSpan): SeenSpan {
  const { name, parentSpanContext, attributes } = span
  const { traceId, spanId: id } = span.spanContext()
  return { name, traceId, id, parent: parentSpanContext?.spanId, attributes }
}
