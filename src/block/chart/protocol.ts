import type {
  AnswerCommand,
  CodeCalledEvent,
  CodeReturnedEvent,
  NodeOptions,
  Request,
  Response,
  SideEffectClass
} from '../../code/index.js'
import type { Hash, Json, WaitToken } from '../../core/index.js'

/**
 * The messages between a parent block, its child blocks and the pump (B1-B3). All plain JSON.
 *
 * A chart never awaits (D1). It gives each wish as a {@link PumpCommand} to the
 * `PumpPort` of its actor system, and continues when the pump delivers the answer as an
 * event. `at` is milliseconds on the run's logical clock (K7); every delivery carries it, and
 * nothing in a chart reads another clock.
 */

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
  | CodeCalledEvent
  | CodeReturnedEvent

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
 * - `answer`: the call of a workflow function that asked for a child has its answer (B12).
 * - `settled` / `waiting` / `resumed`: the root's report, since it has no parent.
 */
export type PumpCommand =
  | AttemptCommand
  | TimerCommand
  | DecisionCommand
  | CancelCommand
  | OverlayCommand
  | AnswerCommand
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
