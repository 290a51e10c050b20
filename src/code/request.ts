import type { Approvers, Hash, Json, JsonObject } from '../core/index.js'

/**
 * What a block is given and gives, how its parent wants it done, and what both name: the classes of
 * side effects, and the labels of failures. All plain JSON.
 */

/**
 * Highest class of effects a block may ask for; unset in a document means `non_idempotent` (B9).
 */
export type SideEffectClass = 'none' | 'idempotent' | 'non_idempotent'

/**
 * What a block receives (B1). `metadata` holds derived ids only, nothing that varies between runs.
 */
export interface Request {
  readonly payload: Json
  readonly context: JsonObject
  readonly metadata: RequestMetadata
}

export interface RequestMetadata {
  readonly id: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly runId: string
  readonly blockName: string
  readonly nodeName: string
  /** From 1. */
  readonly attempt: number
  readonly sideEffectClass: SideEffectClass
  /** Receipt of the composite whose deferred step this is (C4). */
  readonly parentReceipt?: Hash
}

/**
 * What a block returns (B1). Failures are data: `reason` is a stable label, `errorType` a class.
 */
export interface Response {
  readonly success: boolean
  readonly data: Json
  readonly reason?: string
  readonly details?: JsonObject
  readonly errorType?: string
  readonly metadata: JsonObject
}

/**
 * One entry of a recovery list (B8); `errors` narrows it to first failures of these error types.
 */
export type RetryPolicyStep =
  | {
      readonly kind: 'retry'
      /** Executions in all, the first one included. */
      readonly maxAttempts: number
      readonly intervalMs: number
      readonly backoff: 'fixed' | 'linear' | 'exp'
      readonly maxIntervalMs?: number
      readonly errors?: readonly string[]
    }
  | { readonly kind: 'repair'; readonly repair: string; readonly errors?: readonly string[] }
  | {
      readonly kind: 'fallback'
      readonly providers: readonly string[]
      readonly errors?: readonly string[]
    }
  | { readonly kind: 'bubble'; readonly errors?: readonly string[] }

/** How a parent wants this execution done. Absent fields take the defaults of B8 and B9. */
export interface NodeOptions {
  readonly recovery?: readonly RetryPolicyStep[]
  /** `ask`: a failure that recovery does not cure waits for a decision. Default `stop`. */
  readonly onError?: 'stop' | 'ask'
  /** With `ask`: also when its own time was over; `until`: the deadline of its parents (W13). */
  readonly parks?: { readonly until?: number }
  /** Bounds the whole node, retries and waits included (W5). */
  readonly timeoutMs?: number
  /** When the pump settles the attempt `timed_out`, in logical time: the earliest of all. */
  readonly deadline?: number
  /** The pump raises a wait `confirmation` before the attempt; `when` was already evaluated. */
  readonly confirm?: { readonly message?: string; readonly approvers?: Approvers }
  /** Only inside an atomic composite: done after its commit, as work of its own (C4). */
  readonly deferred?: true
  /** Executions that a step makes of a block at most, by its name here; absent: no bound (K14). */
  readonly attempts?: Readonly<Record<string, number>>
  /** Overrides the class of the block; can only be stated, not checked, here. */
  readonly sideEffects?: SideEffectClass
  /**
   * After a failure that certainly did nothing, a retry or repair that would be unsafe gives way to
   * what follows it in the list; absent: it ends the node (C3).
   */
  readonly passesUnsafe?: true
  /** What attempts see as now, milliseconds; absent: when each was asked for (C2). */
  readonly frozenAt?: number
  /** Call of a workflow function that the child serves; only the run knows. */
  readonly serves?: number
  /**
   * Places in plans with declared order, outermost first: earlier ones are delivered before (D3).
   */
  readonly turns?: readonly PlanTurn[]
}

/** A node's place in the order of a plan. */
export interface PlanTurn {
  /** Actor path of the plan. */
  readonly plan: string
  readonly place: number
}

export const ROOT_PATH = 'root'

/** Reason labels, verbatim and stable (B5). */
export const reasons = {
  invalidGraph: 'invalid_graph',
  unknownNode: 'unknown_node',
  noTransition: 'no_transition',
  maxStepsExceeded: 'max_steps_exceeded',
  conditionResolutionError: 'condition_resolution_error',
  conditionExecutionError: 'condition_execution_error',
  inputExecutionError: 'input_execution_error',
  outputExecutionError: 'output_execution_error',
  unknownBlock: 'unknown_block',
  blockBusy: 'block_busy',
  unsafeToRetry: 'unsafe_to_retry',
  cancelled: 'cancelled',
  timedOut: 'timed_out',
  denied: 'denied',
  scopeConflict: 'scope_conflict'
} as const

/** A failed response with nothing but its label and details. */
export function failedResponse(reason: string, details: JsonObject = {}): Response {
  return { success: false, data: null, reason, details, errorType: reason, metadata: {} }
}

/** What a block may do to the world outside, in rising order (semantics.md B9). */
export const sideEffectClasses = [
  'none',
  'idempotent',
  'non_idempotent'
] as const satisfies readonly SideEffectClass[]

/** Whether `effect` is of a higher class than `declared` allows. */
export function exceeds(effect: SideEffectClass, declared: SideEffectClass): boolean {
  return sideEffectClasses.indexOf(effect) > sideEffectClasses.indexOf(declared)
}

/** The highest of some classes; `none` of none. */
export function highest(classes: Iterable<SideEffectClass>): SideEffectClass {
  let rank = 0
  for (const one of classes) rank = Math.max(rank, sideEffectClasses.indexOf(one))
  return sideEffectClasses[rank] ?? 'non_idempotent'
}
