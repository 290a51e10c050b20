import type { Json, JsonObject, RunId } from '../../core/index.js'
import type { QueueTerms } from '../../queue/index.js'
import type { TraceOption } from './run-terms.js'

/** A run whose start is on disk. */
export interface StartedRun {
  readonly id: RunId
  /** Whether this call began it; false when a run of this id, document and inputs was there. */
  readonly isNew: boolean
}

/** What a run is started with, beside its document or workflow. */
export interface StartOptions {
  /** Names the run: the same id with the same document and inputs is the same run (L6). */
  readonly id?: string
  /** Payload of the root block's request. */
  readonly inputs?: Json
  /**
   * Context of the root block's request: what many of its blocks may need to know, and none is
   * given unless its node declares the key (B1). Part of what the id stands for. Default: `{}`.
   */
  readonly context?: JsonObject
  /**
   * Trace of the caller: a W3C `traceparent`, or `{traceId, spanId?}`. Blocks, events and receipts
   * have it; no id or input is another for it, and a later start of the same id changes nothing.
   */
  readonly trace?: TraceOption
  /**
   * By which {@link Runtime.runs} finds the run. They stand in its journal, and in no hash of what
   * it does: the same id with other tags is the same run, with the tags of its first start.
   */
  readonly tags?: readonly string[]
  /**
   * Whose data it is about, such as `customer-17`: what the run keeps is encrypted under a key of
   * the subject, which {@link Runtime.erase} destroys. Of no influence on what the run does; runs
   * that it starts have it too. Rejects with `run.invalid_subject`, `ledger.subject_erased`.
   */
  readonly subject?: string
  /**
   * Declared queue in which the run waits for its turn, which it has until it ends. The start is
   * accepted at once, and survives a restart in its place. Of no influence on what the run does.
   * Rejects with `run.unknown_queue`, `run.invalid_queue`.
   */
  readonly queue?: string | QueueTerms
  /** Protocols that a workflow names, beside those of `workflow` in the runtime's options. */
  readonly protocols?: readonly (string | Json)[]
}

/** What a workflow in code is started with, besides its input. */
export type WorkflowStartOptions = Omit<StartOptions, 'inputs' | 'protocols'>
