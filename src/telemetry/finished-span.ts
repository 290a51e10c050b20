/** Values of attributes: ids, names, hashes, counts and labels; never a payload. */
export type Attributes = Readonly<Record<string, string | number | boolean>>

/** A span that has ended, as data: it becomes one of OpenTelemetry's when it is durable. */
export interface FinishedSpan {
  readonly id: string
  readonly parent: string | undefined
  readonly name: string
  readonly isClient: boolean
  /** Milliseconds. */
  readonly from: number
  readonly to: number
  readonly attributes: Attributes
  /** Reason of a failure; undefined: it did not fail. */
  readonly error: string | undefined
  readonly events: readonly SpanEvent[]
  readonly link: SpanLink | undefined
}

export interface SpanEvent {
  readonly name: string
  /** Milliseconds. */
  readonly at: number
}

/** Another span, perhaps of another trace. */
export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
}

export const noEvents: readonly SpanEvent[] = []
