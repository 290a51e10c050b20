import { hashJson, type RunTrace, sha256Hex } from '../core/index.js'

/** Ids of the spans of a run: what is in the journal gives them, so a resume gives the same. */
export interface RunIds {
  readonly traceId: string
  /** Of the run's own span. */
  readonly root: string
  /** Of what has asked for the run. */
  readonly caller: string | undefined
}

const TRACE_ID_LENGTH = 32
const SPAN_ID_LENGTH = 16

/** Those that the request of the run's root has (B1). */
export function runIds(run: string, trace: RunTrace | undefined): RunIds {
  return {
    traceId: trace?.traceId ?? hashJson(['trace', run]).slice(0, TRACE_ID_LENGTH),
    root: hashJson(['request', run, 'root']).slice(0, SPAN_ID_LENGTH),
    caller: trace?.spanId
  }
}

/** Of what happens at a place of a run; no run id and no path has a line break. */
export function spanId(run: string, ...place: readonly (string | number)[]): string {
  return sha256Hex(`span\n${run}\n${place.join('\n')}`).slice(0, SPAN_ID_LENGTH)
}

/** A W3C `traceparent`. */
export function traceparentOf(traceId: string, id: string, isSampled: boolean): string {
  return `00-${traceId}-${id}-${isSampled ? '01' : '00'}`
}
