import type { ActorPath, Json, JsonObject, RunId, UnitId } from '../core/index.js'
import type { SideEffectClass } from './request.js'
import type { ValueSchema } from './value-schema.js'

/**
 * What a block's code may touch. Everything that is not a pure function of the input comes through
 * here, and what comes from outside the process is sealed, so that a replay supplies it again.
 */
export interface BlockContext {
  readonly runId: RunId
  readonly unitId: UnitId
  readonly path: ActorPath
  /** 1 for the first execution of this step, more for retries. */
  readonly attempt: number
  /**
   * What its node declares of the context that the run was started with (`context: [keys]`), or all
   * of it where the block is the whole run. Frozen.
   */
  readonly context: JsonObject
  /** The caller's trace, or one that follows from the run's id; hand it on to what is called. */
  readonly trace: BlockTrace
  /** Aborted when the attempt is cancelled or times out; work that ignores it continues unheard. */
  readonly abortSignal: AbortSignal
  readonly state: BlockState
  /** The attempt's frozen time in milliseconds (K7). */
  now(): number
  /** A deterministic double in [0, 1); not for secrets. */
  random(): number
  /** A deterministic version 4 UUID; not for secrets. */
  uuid(): string
  /**
   * Touches the outside world once: the result is sealed before the code sees it, and a replay or a
   * resume supplies the sealed result. A request of class `idempotent` or `non_idempotent` is
   * durable before it is performed (L7).
   * Rejects with {@link EffectFailure} when the effect failed.
   */
  effect<Result extends Json>(
    name: string,
    options: EffectOptions<Result> | NonNullable<EffectOptions<Result>['perform']>
  ): Promise<Result>
  /** Waits on the run's logical clock; survives a restart. */
  sleep(ms: number): Promise<void>
  /** Waits for a message from outside the run; the block is WAITING meanwhile. */
  wait(options: WaitOptions): Promise<WaitAnswer>
  /**
   * The next signal of a name that the run was sent, also one that came before the code asked; the
   * block is WAITING until there is one. Signals of a name come in the order in which they were
   * accepted, each once: what an attempt took that did not succeed, the next one takes again.
   * With a schema, of the Standard Schema (zod) or a JSON Schema, the sender of a value that does
   * not fit is refused, and one that came early rejects as `invalid_signal`. Resolves with
   * undefined once `timeoutMs` have passed on the run's logical clock.
   *
   * @example
   * const paid = await ctx.signal('paid', z.object({ amount: z.string() }))
   */
  readonly signal: ReceiveSignal
  /**
   * Tells those outside who ask, `tally.query(run, key)`: the last value of a key counts, also of
   * an attempt that failed later. It is in the journal.
   */
  publish(key: string, value: unknown): Promise<void>
  /**
   * Sets the tags by which lists find the run, `tally.runs({ tag })`, beside those of its start:
   * the last list counts, also of an attempt that failed later. It is in the journal. Rejects with
   * `run.invalid_tags`: at most `RUN_TAGS_MAX`, each of 1 to `RUN_TAG_LENGTH_MAX` characters.
   */
  setTags(tags: readonly string[]): Promise<void>
  /** A line for people; reported as an event once the attempt is durable, never part of a hash. */
  log(message: string, data?: Json): void
  /** Ends the attempt with a failure; `reason` is a stable label (B5). */
  fail(reason: string, details?: Json): never
}

/** Where a block stands in a trace. */
export interface BlockTrace {
  readonly traceId: string
  /** Of this block. */
  readonly spanId: string
  /** Of what has asked for it; of a run's root, the span that its caller gave. */
  readonly parentSpanId?: string
}

/** The state as a block sees it: what it has written itself, over what is committed. */
export interface BlockState {
  /** The value of a key, or undefined. Values are copies; changing them changes nothing. */
  get<Value extends Json = Json>(key: string): Value | undefined
  has(key: string): boolean
  set(key: string, value: Json): void
  delete(key: string): void
  /** Keys that begin with `prefix`, sorted; the answer is sealed like an effect's. */
  list(prefix: string): Promise<readonly string[]>
}

/** How a call of `ctx.effect` is performed, looked up and bounded. */
export interface EffectOptions<Result extends Json> {
  /** What is asked for, plain JSON: it is hashed into the receipt and into the idempotency key. */
  readonly request?: Json
  /** Defaults to the class of the block; a higher one is refused. */
  readonly sideEffects?: SideEffectClass
  /**
   * Of a read: performed only once what led to it is on disk, since performing it again after a
   * crash is dear (a model's turn). Otherwise a read does not wait for the disk: its request may be
   * seen outside, and is repeated if the process dies (D2). Writes always wait. Default false.
   */
  readonly durable?: boolean
  /**
   * A person has just approved exactly this: an obligation of the effect asks no second time,
   * unless it has approvers.
   */
  readonly confirmed?: boolean
  /** Does it. Without it, the provider registered under the effect's name does. */
  readonly perform?: (call: EffectCall) => Promise<Result> | Result
  /** Asks whether an earlier call with this key took effect; used before anything is repeated. */
  readonly locate?: (call: EffectCall) => Promise<Located<Result>> | Located<Result>
}

/**
 * What a provider gets. `key` is the same for every try of the same effect: its idempotency key.
 */
export interface EffectCall {
  readonly key: string
  readonly request: Json
  readonly signal: AbortSignal
  /**
   * Who started the run (K13), as its entry point says; never what a document or payload says.
   * Absent where no run asks.
   */
  readonly principal?: Json
  /** The run that asks; absent where none does. */
  readonly runId?: RunId
  /**
   * W3C Trace Context for what is called: a header of its requests. It differs between tries and is
   * in no hash; absent without telemetry.
   */
  readonly traceparent?: string
}

/** What a provider knows of an earlier call: its result, or that there was none. */
export type Located<Result extends Json> =
  | { readonly found: true; readonly result: Result }
  /** `definite`: it certainly did not happen and will not happen later. */
  | { readonly found: false; readonly definite: boolean }

/** What `ctx.wait` asks for, and how its answer is bounded. */
export interface WaitOptions {
  readonly reason: 'confirmation' | 'permission' | 'external'
  /** What the person or system is shown; bound by the digest. */
  readonly request?: Json
  /** Ends the wait as `timed_out` after this long on the run's logical clock. */
  readonly timeoutMs?: number
  /**
   * Keys of which `threshold` have to sign the same answer; one signed denial ends the wait (K13).
   * Without them any answer of the owner does.
   */
  readonly approvers?: { readonly threshold: number; readonly keys: readonly string[] }
}

/** How code takes signals. */
export interface ReceiveSignal {
  (name: string): Promise<Json>
  <Value>(name: string, schema: ValueSchema<Value>): Promise<Value>
  <Value = Json>(
    name: string,
    schema: ValueSchema<Value> | undefined,
    options: { readonly timeoutMs: number }
  ): Promise<Value | undefined>
}

/** The answer that has ended a wait. */
export interface WaitAnswer {
  readonly action: 'approve' | 'deny' | 'resume' | 'timeout'
  readonly value: Json
  /** Who answers; its `approvals` are what approvers have signed. A name in it is a claim. */
  readonly by: Json
  /** When it was given, on the run's logical clock; absent after a timeout. */
  readonly at?: number
  /** What it was bound to (W7); absent after a timeout. */
  readonly digest?: string
}

/** An effect that did not succeed. `definite` says that it certainly had no effect outside. */
export class EffectFailure extends Error {
  override readonly name = 'EffectFailure'
  readonly reason: string
  readonly definite: boolean
  readonly details: Json

  constructor(
    reason: string,
    options: { readonly definite?: boolean; readonly details?: Json; readonly cause?: unknown } = {}
  ) {
    super(reason, options)
    this.reason = reason
    this.definite = options.definite ?? false
    this.details = options.details ?? null
  }
}

/** Thrown by `ctx.fail`: the attempt ends with this reason. */
export class BlockFailure extends Error {
  override readonly name: string = 'BlockFailure'
  readonly reason: string
  readonly details: Json

  constructor(reason: string, details: Json = null) {
    super(reason)
    this.reason = reason
    this.details = details
  }
}

/**
 * Trusted code touched the clock, chance or the network other than through `ctx` (K8).
 */
export class DeterminismViolation extends BlockFailure {
  override readonly name = 'DeterminismViolation'
}
