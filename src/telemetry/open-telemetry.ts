import { Instruments } from './instruments.js'
import { loadApi } from './peer.js'
import type { Meters, Tracers } from './port.js'
import { RunsTelemetry } from './runs-telemetry.js'
import { SpanWriter } from './span-writer.js'
import type { Telemetry } from './telemetry.js'

/** Where spans and metrics go, and how much they say. */
export interface OpenTelemetryOptions {
  /** Default: the one that is registered with `@opentelemetry/api`. */
  readonly tracerProvider?: Tracers
  /** Default: the one that is registered with `@opentelemetry/api`. */
  readonly meterProvider?: Meters
  /**
   * Names agents' turns, model calls and tool calls by OpenTelemetry's conventions for generative
   * AI, which are in development: names may change with a version. Default false.
   */
  readonly genAi?: boolean
}

const NAME = 'tallystick'

/**
 * Spans and metrics of what a runtime does, for any backend of OpenTelemetry. Needs
 * `@opentelemetry/api`; its SDK and an exporter are the program's to choose and to register.
 *
 * @example
 * const tally = await createRuntime({ location: './ledger', telemetry: openTelemetry() })
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  return {
    open: async ({ version }) => {
      const api = await loadApi()
      const { tracerProvider = api.trace, meterProvider = api.metrics } = options
      const tracer = tracerProvider.getTracer(NAME, version)
      const meter = meterProvider.getMeter(NAME, version)
      const isGenAi = options.genAi === true
      const instruments = new Instruments(meter, isGenAi)
      return new RunsTelemetry(new SpanWriter(api, tracer), instruments, { isGenAi })
    }
  }
}
