import type { Duration, Json, JsonObject, RunId } from '../core/index.js'
import type { TypedBlock } from './block.js'
import type { BlockTrace, EffectCall, ReceiveSignal, WaitAnswer, WaitOptions } from './context.js'
import type { FunctionStepOptions, StepOptions } from './step-options.js'

/** A step that is a function; `call.key` is the same for every try of it. */
export type StepFunction<Input, Output> = (
  input: Input,
  call: EffectCall
) => Promise<Output> | Output

/** What steps are done with: the context of a workflow function, or an atomic part of it. */
export interface StepScope {
  /**
   * Executes a block as a child with a receipt of its own, and gives its result. Rejects with
   * {@link StepFailure} when it fails and recovery does not cure that.
   */
  step<Input, Output>(
    name: string,
    block: TypedBlock<Input, Output>,
    input: Input,
    options?: StepOptions
  ): Promise<Output>
  /**
   * Does a function as a step: it may do anything outside. Its result is sealed, and a resume or a
   * replay supplies it. It is not done again unasked after a crash in its midst, unless
   * `sideEffects` says that it may be.
   */
  step<Output>(name: string, run: StepFunction<null, Output>): Promise<Output>
  step<Input, Output>(
    name: string,
    run: StepFunction<Input, Output>,
    input: Input,
    options?: FunctionStepOptions
  ): Promise<Output>
  /**
   * Waits for all of them, and gives their results. Steps among them run at once, and leave their
   * receipts in the order in which they stand here (D3). Rejects once all have ended, with the
   * first failure in that order.
   */
  all<Results extends readonly unknown[]>(
    steps: Results
  ): Promise<{ -readonly [Place in keyof Results]: Awaited<Results[Place]> }>
}

/** A workflow that another one starts. */
export interface ChildWorkflow<Input, Output> {
  readonly name: string
  readonly version: string
  readonly types?: { readonly input: Input; readonly output: Output }
}

/** What the code of a workflow function may use, and wait for. */
export interface WorkflowContext extends StepScope {
  readonly runId: RunId
  /** The context that the run was started with. Frozen. */
  readonly context: JsonObject
  readonly trace: BlockTrace
  /**
   * Starts another registered workflow as a run of its own, or attaches to the one that has this
   * id, and waits for what it gives (L6). It continues by itself when this run is cancelled.
   * Rejects with {@link StepFailure} when it fails.
   */
  child<Input, Output>(
    workflow: ChildWorkflow<Input, Output>,
    input: Input,
    options: { readonly id: string }
  ): Promise<Output>
  /**
   * The first of them that ends; which one that was is recorded. The others go on, and those that
   * still run when the workflow ends are cancelled.
   */
  race<Results extends readonly unknown[]>(steps: Results): Promise<Awaited<Results[number]>>
  /** Waits on the run's clock, across restarts: `'1d'`, `'2h30m'`, milliseconds. */
  sleep(duration: Duration): Promise<void>
  /** Waits until then: a `Date`, a text that `Date` reads, or milliseconds since 1970. */
  sleepUntil(time: Date | string | number): Promise<void>
  /** The next signal of a name, also one that came before; undefined after `timeoutMs`. */
  readonly signal: ReceiveSignal
  /** Waits for a message from outside the run. */
  wait(options: WaitOptions): Promise<WaitAnswer>
  /**
   * Does steps on an overlay of the state, as one unit of work with one receipt (C4): all of them,
   * or none. When the function throws, the overlay is dropped and what was done outside is undone.
   * When other work has changed meanwhile what was read, the function is called again.
   */
  atomic<Output>(run: (scope: StepScope) => Promise<Output>): Promise<Output>
  atomic<Output>(name: string, run: (scope: StepScope) => Promise<Output>): Promise<Output>
  /** Makes a value known under a key to those who ask the run from outside; journaled. */
  publish(key: string, value: unknown): Promise<void>
  /** Sets the tags by which lists find the run, beside those of its start; the last list counts. */
  setTags(tags: readonly string[]): Promise<void>
  /** When the code was last given something, in milliseconds; the same on a replay. */
  now(): number
  /** A deterministic double in [0, 1); not for secrets. */
  random(): number
  /** A deterministic version 4 UUID; not for secrets. */
  uuid(): string
  /** A line for people; told once, and never part of a hash. */
  log(message: string, data?: Json): void
  /** Ends the run with a failure; `reason` is a stable label. */
  fail(reason: string, details?: Json): never
}
