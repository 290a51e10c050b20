import type { Json } from '../core/index.js'
import type { NodeOptions, Response, SideEffectClass } from './request.js'

/**
 * What the code of a workflow function asks its chart for, as the journal keeps it (B12). Plain
 * JSON. Each is numbered by the code's own count of its calls, `seq`.
 */
export type FunctionCall = StepCall | ScopeCall | ScopeReturn

/** A child is to be executed. */
export interface StepCall {
  readonly kind: 'step'
  /** The child's name among those of its parent. */
  readonly name: string
  /** `name@version` of the leaf. */
  readonly block: string
  readonly sideEffects: SideEffectClass
  readonly input: Json
  /** Keys of the parent's context that the child is given (B1); absent: none. */
  readonly context?: readonly string[]
  /** Absent: the defaults. */
  readonly options?: NodeOptions
  /** `seq` of the atomic part that it belongs to; absent: to none. */
  readonly scope?: number
}

/** An atomic part begins (C4). */
export interface ScopeCall {
  readonly kind: 'scope'
  readonly name: string
}

/** The code of an atomic part has ended. */
export interface ScopeReturn {
  readonly kind: 'return'
  readonly scope: number
  readonly response: Response
}

/** pump -> function: its code has made a call. */
export interface CodeCalledEvent {
  readonly type: 'code.called'
  readonly seq: number
  readonly call: FunctionCall
  readonly at: number
}

/** pump -> function, and function -> its atomic part: the code has come to its end. */
export interface CodeReturnedEvent {
  readonly type: 'code.returned'
  readonly response: Response
  readonly at: number
}

/** function -> pump: a child has ended, and the call that asked for it is answered. */
export interface AnswerCommand {
  readonly kind: 'answer'
  readonly path: string
  readonly seq: number
  readonly response: Response
  readonly at: number
}
