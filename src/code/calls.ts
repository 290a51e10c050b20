import {
  type Approvers,
  canonicalString,
  type Hash,
  hashJson,
  hashOwn,
  type Json,
  sha256Hex
} from '../core/index.js'
import type { QueueTerms } from '../queue/index.js'
import type { EffectCall, Located } from './context.js'
import type { FunctionCall } from './function-call.js'
import type { SideEffectClass } from './request.js'

/** What one attempt asked for and has not been given yet. `seq` counts its calls from 1. */
export type Call =
  | EffectRequest
  | SleepRequest
  | WaitRequest
  | ListRequest
  | SignalRequest
  | ChildRequest

interface CallBase {
  readonly seq: number
  readonly effect: string
  readonly request: Json
  readonly requestHash: Hash
  /** Hands the result to the code, with when it came; `ok` false rejects. */
  readonly answer: (ok: boolean, body: Json, at?: number) => void
}

export interface EffectRequest extends CallBase {
  readonly kind: 'effect'
  readonly sideEffects: SideEffectClass
  /** A read that waits for the disk, as a write does. */
  readonly durable: boolean
  readonly perform: ((call: EffectCall) => unknown) | undefined
  readonly locate: ((call: EffectCall) => Promise<Located<Json>> | Located<Json>) | undefined
}

export interface SleepRequest extends CallBase {
  readonly kind: 'sleep'
  readonly ms: number
}

export interface WaitRequest extends CallBase {
  readonly kind: 'wait'
  readonly reason: 'confirmation' | 'permission' | 'external'
  readonly timeoutMs: number | undefined
  readonly approvers: Approvers | undefined
}

/** A call that a signal of a name ends, or its time. */
export interface SignalRequest extends CallBase {
  readonly kind: 'signal'
  readonly name: string
  readonly timeoutMs: number | undefined
  /** Why the code would not take a value; undefined: it takes it. Pure. */
  readonly refuses: (value: Json) => string | undefined
}

export interface ListRequest extends CallBase {
  readonly kind: 'list'
  readonly prefix: string
}

/** Code of a workflow function asks for a child, or begins or ends an atomic part (B12). */
export interface ChildRequest extends CallBase {
  readonly kind: 'child'
  readonly call: FunctionCall
  /** Does the work of a step that is a function. */
  readonly perform: ((call: EffectCall) => unknown) | undefined
  /** Where the effects of the step wait for their turn; the journal does not have it. */
  readonly queue: QueueTerms | undefined
  /** The line of the code that asks, where somebody may want to know. */
  readonly line: string | undefined
  /** The code may end without having waited for it. */
  readonly isLoose: () => boolean
}

/**
 * Whether the result of the code depends on having waited for a call. That of a workflow function
 * depends on the order of its answers alone, which is recorded.
 */
export function mustBeAwaited(call: Call, isFunction: boolean): boolean {
  if (call.kind === 'child') return !call.isLoose()
  return call.kind === 'effect' || !(isFunction || call.kind === 'sleep')
}

/** Builds the call of an effect. */
export function effectCall({
  sideEffects,
  durable,
  perform,
  locate
}: Pick<EffectRequest, 'sideEffects' | 'durable' | 'perform' | 'locate'>) {
  return (call: Omit<Call, 'kind'>): Call => ({
    kind: 'effect',
    sideEffects,
    durable,
    perform,
    locate,
    ...call
  })
}

/** Effect names of the calls that are not effects of a provider. */
export const builtInEffects = {
  wait: 'wait',
  sleep: 'timer',
  list: 'state.list',
  signal: 'run.signal'
} as const

/** Names that stand in a journal for calls of the kernel: no effect may have them. */
export const reservedEffects: ReadonlySet<string> = new Set(Object.values(builtInEffects))

/** Starts another run, and gives its response. */
export const CHILD_EFFECT = 'run.child'
/** What runs publish under; no effect of a block's may have it at the root of a run. */
export const PUBLISH_EFFECT = 'run.publish'
/** With which code sets the tags of its run; no effect of a block's may have it. */
export const TAGS_EFFECT = 'run.tags'

/** Effects that the runtime performs for code, by name: nothing outside takes part in them. */
export const runEffects: ReadonlySet<string> = new Set([CHILD_EFFECT, PUBLISH_EFFECT, TAGS_EFFECT])

/**
 * Covers the effect's name and its request, before secrets are resolved (formats.md §3), and of a
 * wait who has to sign the answer: what others have signed is no answer to it.
 */
export function requestHashOf(effect: string, request: Json, approvers?: Approvers): Hash {
  return hashJson(approvers === undefined ? { effect, request } : { approvers, effect, request })
}

/** {@link requestHashOf} of a request whose canonical text is at hand. */
export function requestTextHash(effect: string, requestText: string): Hash {
  return sha256Hex(`{"effect":${canonicalString(effect)},"request":${requestText}}`)
}

/** Idempotency key of an effect: the same for every try (L7). */
export function effectKey(
  runId: string,
  path: string,
  step: number,
  seq: number,
  requestHash: Hash
): Hash {
  return hashOwn([runId, path, step, seq, requestHash])
}
