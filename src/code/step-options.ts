import { type Duration, durationMs, type Json, limits } from '../core/index.js'
import { approversOf, stricterApprovers } from '../identity/index.js'
import { heldTerms, type QueueTerms } from '../queue/index.js'
import type { Block } from './block.js'
import { BlockFailure } from './context.js'
import { lowest } from './obligation.js'
import type { NodeOptions, RetryPolicyStep, SideEffectClass } from './request.js'

/** How often a step is tried, and how long apart (B8). */
export interface StepRetry {
  /** Executions in all, the first one included. */
  readonly attempts: number
  /** Default one second. */
  readonly interval?: Duration
  /** Default `exp`. */
  readonly backoff?: 'fixed' | 'linear' | 'exp'
  readonly maxInterval?: Duration
  /** Only after first failures of these error types. */
  readonly errors?: readonly string[]
}

/** How a workflow function wants a step done. */
export interface StepOptions {
  /** A number: so many executions in all, a second apart and then twice as long each time. */
  readonly retry?: number | StepRetry
  /** Recovery in full, after `retry`: also repairs by name, and fallbacks (B8). */
  readonly recovery?: readonly RetryPolicyStep[]
  /** Bounds the step with its retries and waits (W5). */
  readonly timeout?: Duration
  /** A person approves the step before it begins. */
  readonly confirm?: true | string | StepConfirm
  /** `ask`: what recovery does not cure waits for a person's decision (B9). Default `fail`. */
  readonly onError?: 'fail' | 'ask'
  /** Keys of the workflow's context that the step is given (B1). */
  readonly context?: readonly string[]
  /** Declared queue in which what it does outside waits for its turn. */
  readonly queue?: string | QueueTerms
}

/** The question that a person answers before a step is done, and who has to sign the answer. */
export interface StepConfirm {
  readonly message?: string
  readonly approvers?: { readonly threshold: number; readonly keys: readonly string[] }
}

/** The same for a step that is a function. */
export interface FunctionStepOptions extends StepOptions {
  /** What doing it again would do outside (B9). Default `non_idempotent`: not done unasked. */
  readonly sideEffects?: SideEffectClass
}

type Called = Pick<Block, 'name' | 'version' | 'obligations'>

const backoffs: ReadonlySet<unknown> = new Set<StepRetry['backoff']>(['fixed', 'linear', 'exp'])

/** Options as a chart takes them; undefined where all are the defaults. Throws `BlockFailure`. */
export function nodeOptionsOf(options: StepOptions, block: Called): NodeOptions | undefined {
  const { retry, recovery = [], timeout, onError } = options
  const steps = [...(retry === undefined ? [] : [retryOf(retry)]), ...recovery]
  const { limits: ceilings } = block.obligations?.own ?? {}
  const timeoutMs = lowest(
    timeout === undefined ? undefined : spanOf('timeout', timeout),
    ceilings?.timeoutMs
  )
  const { attempts } = ceilings ?? {}
  const confirm = confirmOf(options, block)
  const found: NodeOptions = {
    ...(steps.length === 0 ? {} : { recovery: steps }),
    ...(onError === 'ask' ? { onError } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(confirm === undefined ? {} : { confirm }),
    ...(attempts === undefined ? {} : { attempts: { [referenceOf(block)]: attempts } })
  }
  return Object.keys(found).length === 0 ? undefined : found
}

/** How a call names a block: versions stand side by side (B10). */
export function referenceOf({ name, version }: Pick<Block, 'name' | 'version'>): string {
  return `${name}@${version}`
}

function retryOf(given: number | StepRetry): RetryPolicyStep {
  const retry: StepRetry = typeof given === 'number' ? { attempts: given } : given
  const { attempts, interval = 1_000, backoff = 'exp', maxInterval, errors } = retry
  if (!Number.isSafeInteger(attempts) || attempts < 1 || attempts > limits.RETRY_ATTEMPTS_MAX) {
    throw new BlockFailure('invalid_options', { option: 'retry.attempts' })
  }
  // Not every caller is compiled: another word would give a time that is no number.
  if (!backoffs.has(backoff)) {
    throw new BlockFailure('invalid_options', { option: 'retry.backoff' })
  }
  return {
    kind: 'retry',
    maxAttempts: attempts,
    intervalMs: spanOf('retry.interval', interval),
    backoff,
    ...(maxInterval === undefined
      ? {}
      : { maxIntervalMs: spanOf('retry.maxInterval', maxInterval) }),
    ...(errors === undefined ? {} : { errors: [...errors] })
  }
}

/** Throws `invalid_options` for what is no place in a queue. */
export function queueOf({ queue }: StepOptions): QueueTerms | undefined {
  if (queue === undefined) return undefined
  const terms = heldTerms(queue)
  if (!('problem' in terms)) return terms
  throw new BlockFailure('invalid_options', { option: 'queue', problem: terms.problem })
}

/** Throws `invalid_options` for what is no time span. */
export function spanOf(option: string, given: Duration): number {
  const ms = durationMs(given)
  if (ms === undefined) throw new BlockFailure('invalid_options', { option, given })
  return ms
}

function confirmOf({ confirm }: StepOptions, block: Called): NodeOptions['confirm'] {
  if (confirm === undefined) return undefined
  const { message, approvers: given } =
    confirm === true ? {} : typeof confirm === 'string' ? { message: confirm } : confirm
  const named = given === undefined ? undefined : approversOf(given as unknown as Json)
  if (named !== undefined && 'problem' in named) {
    throw new BlockFailure('invalid_approvers', { problem: named.problem })
  }
  const approvers = named?.approvers
  if (stricterApprovers(block.obligations?.own?.confirm?.approvers, approvers) === null) {
    throw new BlockFailure('invalid_approvers', { problem: 'others hold for the block' })
  }
  return {
    ...(message === undefined ? {} : { message }),
    ...(approvers === undefined ? {} : { approvers })
  }
}
