/** telemetry: spans and metrics of what a runtime does, for backends of OpenTelemetry. */

export { type OpenTelemetryOptions, openTelemetry } from './open-telemetry.js'
export type {
  Adds,
  Context,
  Meter,
  Meters,
  MetricOptions,
  Records,
  SecondsAndNanoseconds,
  Span,
  SpanOptions,
  Tracer,
  Tracers
} from './port.js'
export type { CommitSeen, RunningTelemetry, Telemetry, VerificationSeen } from './telemetry.js'
