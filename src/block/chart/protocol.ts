import type { AnyActorRef } from 'xstate'
import type { Approvers, Hash, Json, JsonObject, WaitToken } from '../../core/index.js'

/**
 * The messages between a parent block, its child blocks and the pump (B1-B3). All plain JSON.
 *
 * A chart never awaits (D1). It gives each wish as a {@link PumpCommand} to the
 * {@link PumpPort} of its actor system, and continues when the pump delivers the answer as an
 * event. `at` is milliseconds on the run's logical clock (K7); every delivery carries it, and
 * nothing in a chart reads another clock.
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

/** Why a block is WAITING (B3). */
export type WaitReason =
  | 'permission'
  | 'confirmation'
  | 'decision'
  | 'poll'
  | 'retry'
  | 'external'
  | 'integrity'

/** What may end a wait, beside its due time. */
export type WaitAction = 'resume' | 'approve' | 'deny' | 'cancel' | 'signal' | DecisionAction

export type DecisionAction = 'retry' | 'patch' | 'skip' | 'abort'

/**
 * A wait as a block reports it (B3). The pump adds `token` and `digest`: charts do not know run
 * ids.
 */
export interface Wait {
  readonly reason: WaitReason
  readonly request: Json
  readonly actions: readonly WaitAction[]
  /** Logical time, milliseconds, at which the wait ends by itself. */
  readonly due?: number
  readonly token?: WaitToken
  readonly digest?: Hash
}

/** parent -> block, and pump -> root block. */
export type BlockCommand = ExecuteEvent | CancelEvent

export interface ExecuteEvent {
  readonly type: 'block.execute'
  readonly request: Request
  /** Counts the parent's child executions and never repeats in a run; part of unit ids (L6). */
  readonly step: number
  readonly options: NodeOptions
  readonly at: number
}

export interface CancelEvent {
  readonly type: 'block.cancel'
  readonly reason: string
  readonly at: number
}

/** pump -> block: each is recorded with its delivery number before it is sent (D2). */
export type Delivery =
  | AttemptSettledEvent
  | {
      readonly type: 'attempt.waiting'
      readonly wait: Wait
      /** The attempt has sent something outside that may have happened (W9). */
      readonly sent?: boolean
      readonly at: number
    }
  | { readonly type: 'attempt.resumed'; readonly at: number }
  | { readonly type: 'timer.fired'; readonly at: number }
  | DecisionMadeEvent
  | OverlaySettledEvent
  | { readonly type: 'scope.conflict'; readonly at: number }

/** The attempt that was asked for has ended. */
export interface AttemptSettledEvent {
  readonly type: 'attempt.settled'
  readonly response: Response
  readonly at: number
  /**
   * False when the attempt failed before its first write-class effect was sent, or its provider
   * answered definitely that nothing happened (C3). Absent means unknown, which is taken as sent.
   */
  readonly sent?: boolean
}

/** A person answered a wait with reason `decision`. */
export interface DecisionMadeEvent {
  readonly type: 'decision.made'
  readonly action: DecisionAction
  /** JSON merge patch (RFC 7396) of the request's payload; with `patch` only. */
  readonly patch?: Json
  readonly at: number
}

/**
 * Answer to `scope.commit` and `scope.abort`. To a commit: `success` true settles the composite
 * with this response, false is its failure. To an abort: the failure to continue with.
 */
export interface OverlaySettledEvent {
  readonly type: 'scope.settled'
  readonly response: Response
  readonly at: number
  /**
   * False after an abort that left nothing behind: then the composite may be retried whatever its
   * class.
   */
  readonly sent?: boolean
}

/** block -> parent. */
export type BlockReport =
  | {
      readonly type: 'block.settled'
      readonly node: string
      readonly step: number
      readonly response: Response
      readonly at: number
    }
  | {
      readonly type: 'block.waiting'
      readonly node: string
      readonly wait: Wait
      /** Something was sent outside whose outcome may still be open (W9). */
      readonly sent?: boolean
      readonly at: number
    }
  | { readonly type: 'block.resumed'; readonly node: string; readonly at: number }

export type LeafEvent = BlockCommand | Delivery
export type CompositeEvent = BlockCommand | Delivery | BlockReport

/**
 * block -> pump. `path` names the actor (ids from the root joined by `/`, the root is `root`).
 *
 * - `attempt`: run the leaf once; answered by attempt.waiting / attempt.resumed / attempt.settled.
 *   Asked again with the same `(path, step, attempt)` after a restore.
 * - `timer`: answered by `timer.fired` at logical time `due`.
 * - `decision`: raise a wait; answered by `decision.made`, or `timer.fired` when `due` passes
 *   first.
 * - `cancel`: forget what this path asked for; no answer. The block is already READY.
 * - `scope.open` / `scope.commit` / `scope.abort`: overlay of an atomic composite, or of a
 *   composite inside one (C4). Open has no answer; commit and abort are answered by
 *   `scope.settled`, and a commit whose reads changed (L10) by `scope.conflict`, on which the
 *   composite opens again and runs anew.
 * - `settled` / `waiting` / `resumed`: the root's report, since it has no parent.
 */
export type PumpCommand =
  | AttemptCommand
  | TimerCommand
  | DecisionCommand
  | CancelCommand
  | OverlayCommand
  | RootCommand

export interface AttemptCommand {
  readonly kind: 'attempt'
  readonly path: string
  readonly step: number
  readonly attempt: number
  readonly block: string
  /** Provider chosen by fallback; null: the block's own choice. */
  readonly provider: string | null
  /** `request.metadata.attempt` equals `attempt`. */
  readonly request: Request
  readonly options: NodeOptions
  readonly sideEffects: SideEffectClass
}

export interface TimerCommand {
  readonly kind: 'timer'
  readonly path: string
  readonly step: number
  readonly attempt: number
  readonly due: number
  readonly reason: 'retry'
}

export interface DecisionCommand {
  readonly kind: 'decision'
  readonly path: string
  readonly step: number
  readonly attempt: number
  /** The failure handed up. */
  readonly response: Response
  readonly wait: Wait
  /** The request that a patch changes, and of a leaf what executes it. */
  readonly failed?: Partial<Pick<AttemptCommand, 'request' | 'block' | 'provider'>>
}

export interface CancelCommand {
  readonly kind: 'cancel'
  readonly path: string
  readonly step: number
  readonly reason: string
}

export type OverlayCommand =
  | {
      readonly kind: 'scope.open'
      readonly path: string
      readonly step: number
      readonly attempt: number
      readonly block: string
      readonly request: Request
      /** True for the composite whose commit is one receipt; false inside another scope. */
      readonly outermost: boolean
      /** The time of its receipt; absent: when it was opened (C2). */
      readonly frozenAt?: number
    }
  | {
      readonly kind: 'scope.commit' | 'scope.abort'
      readonly path: string
      readonly step: number
      readonly attempt: number
      readonly response: Response
      readonly at: number
    }

export type RootCommand =
  | {
      readonly kind: 'settled'
      readonly path: string
      readonly step: number
      readonly response: Response
      readonly at: number
    }
  | { readonly kind: 'waiting'; readonly path: string; readonly wait: Wait; readonly at: number }
  | { readonly kind: 'resumed'; readonly path: string; readonly at: number }

/**
 * The pump as charts see it. `ask` is called inside a transition: it only records. It must not read
 * the actor's snapshot and must not deliver before the current macrostep has ended.
 */
export interface PumpPort {
  ask(ask: PumpCommand, actor: AnyActorRef): void
  reported?(path: string, report: BlockReport): void
}

/** The system of a root actor and all its children. */
export type ActorSystem = AnyActorRef['system']

// Keyed by actor system, so that one compiled chart serves many runs without closures.
const pumps = new WeakMap<ActorSystem, PumpPort>()

/** Joins a root actor's system to its pump; call it between `createActor` and `start`. */
export function connectPump(system: ActorSystem, pump: PumpPort): void {
  pumps.set(system, pump)
}

/** The pump of an actor system; undefined when none was connected (a drawn or inspected chart). */
export function pumpOf(system: ActorSystem): PumpPort | undefined {
  return pumps.get(system)
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
  denied: 'denied'
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
