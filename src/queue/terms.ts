import { type Duration, durationMs, type Json, limits } from '../core/index.js'

/**
 * How work waits for its turn. It says when something is done, never what: no receipt, no hash and
 * no replay knows of it.
 */

/** How much of a queue is done at once, and how fast. */
export interface QueueLimits {
  /** At once, in all partitions together. Default `limits.QUEUE_CONCURRENCY_DEFAULT`. */
  readonly concurrency?: number
  /** At once, of one partition. Default: as many as of all. */
  readonly partitionConcurrency?: number
  /** So many are begun in any span of that length; across restarts, too. */
  readonly rate?: { readonly limit: number; readonly per: Duration }
}

/** In which queue something waits, and where in it. */
export interface QueueTerms {
  readonly name: string
  /** Higher ones come first: a whole number, 0 by default. */
  readonly priority?: number
  /** Partitions take turns, so that one with much to do delays no other: a customer, a tenant. */
  readonly partition?: string
}

/** The queue of a block, with the limits that hold for it everywhere. */
export interface BlockQueue extends QueueLimits, Omit<QueueTerms, 'partition'> {
  /** Of the payload, where it is a function; it has to be pure. */
  readonly partition?: string | ((input: never) => string)
}

/** {@link QueueLimits} as they hold. */
export interface HeldLimits {
  readonly concurrency: number
  readonly partitionConcurrency: number
  readonly rate: { readonly limit: number; readonly perMs: number } | undefined
}

const queueName = /^[A-Za-z][\w.:@/-]*$/

/** Why a name is none of a queue; undefined: it is one. */
export function queueNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || !queueName.test(name)) return 'its name is no name of a queue'
  if (name.length <= limits.QUEUE_NAME_LENGTH_MAX) return undefined
  return `its name has more than ${limits.QUEUE_NAME_LENGTH_MAX} characters`
}

/** Limits with their defaults, or why they cannot hold. */
export function heldLimits(given: QueueLimits): HeldLimits | { readonly problem: string } {
  // The limits of a program may come from its configuration.
  const said: QueueLimits = isThing(given) ? given : {}
  const { concurrency = limits.QUEUE_CONCURRENCY_DEFAULT, rate } = said
  const { partitionConcurrency = concurrency } = said
  for (const [member, count] of Object.entries({ concurrency, partitionConcurrency })) {
    if (isCount(count, limits.QUEUE_CONCURRENCY_MAX)) continue
    return { problem: `its ${member} is no whole number from 1 to ${limits.QUEUE_CONCURRENCY_MAX}` }
  }
  if (rate === undefined) return { concurrency, partitionConcurrency, rate }
  const { per = 0, limit }: Partial<typeof rate> = isThing(rate) ? rate : {}
  const perMs = durationMs(per) ?? 0
  if (limit === undefined || !isCount(limit, limits.QUEUE_RATE_MAX) || perMs < 1) {
    return { problem: `its rate is no whole number from 1 to ${limits.QUEUE_RATE_MAX} in a span` }
  }
  return { concurrency, partitionConcurrency, rate: { limit, perMs } }
}

/** Terms without what is as by default, or why they cannot hold. */
export function heldTerms(given: string | QueueTerms): QueueTerms | { readonly problem: string } {
  // A caller of another process may give anything.
  const terms: Partial<QueueTerms> =
    typeof given === 'string' ? { name: given } : isThing(given) ? given : {}
  const { name, priority = 0, partition = '' } = terms
  const problem = queueNameProblem(name)
  if (problem !== undefined || name === undefined) return { problem: problem ?? '' }
  if (!Number.isSafeInteger(priority) || Math.abs(priority) > limits.QUEUE_PRIORITY_MAX) {
    return { problem: `its priority is no whole number up to ${limits.QUEUE_PRIORITY_MAX}` }
  }
  if (typeof partition !== 'string' || partition.length > limits.QUEUE_NAME_LENGTH_MAX) {
    const most = limits.QUEUE_NAME_LENGTH_MAX
    return { problem: `its partition is no text of at most ${most} characters` }
  }
  return {
    name,
    ...(priority === 0 ? {} : { priority }),
    ...(partition === '' ? {} : { partition })
  }
}

/** A block's queue, checked, or why it cannot hold. */
export function blockQueue(given: string | BlockQueue): BlockQueue | { readonly problem: string } {
  if (typeof given === 'string') return heldTerms(given)
  const { partition, ...terms } = given
  const limitsOf = heldLimits(given)
  if ('problem' in limitsOf) return limitsOf
  const plain = typeof partition === 'string' ? { ...terms, partition } : terms
  const held = heldTerms(plain)
  if ('problem' in held) return held
  const named = typeof partition === 'function' ? { partition } : {}
  return Object.freeze<BlockQueue>({ ...given, ...held, ...named })
}

/** Whether a queue is declared with limits of its own. */
export function hasLimits({ concurrency, partitionConcurrency, rate }: QueueLimits): boolean {
  return concurrency !== undefined || partitionConcurrency !== undefined || rate !== undefined
}

/** In which queue an effect of a block waits: its step's, else its own, else that of its name. */
export function queueOfEffect(
  given: {
    readonly step: QueueTerms | undefined
    readonly block: BlockQueue | undefined
    readonly payload: Json
  },
  effect: string
): QueueTerms {
  const { step, block, payload } = given
  if (step !== undefined) return step
  return block === undefined ? { name: effect } : queueTermsFor(block, payload)
}

/** In which place of a declared queue what has this payload waits. */
export function queueTermsFor(queue: BlockQueue, payload: Json): QueueTerms {
  const { name, priority = 0, partition: given = '' } = queue
  const partition = partitionOf(given, payload)
  return {
    name,
    ...(priority === 0 ? {} : { priority }),
    ...(partition === '' ? {} : { partition })
  }
}

// What the program's function throws or gives for a strange payload keeps no effect from its turn.
function partitionOf(partition: BlockQueue['partition'] & {}, payload: Json): string {
  if (typeof partition === 'string') return partition
  try {
    const found: unknown = partition(payload as never)
    return typeof found === 'string' ? found.slice(0, limits.QUEUE_NAME_LENGTH_MAX) : ''
  } catch {
    return ''
  }
}

function isThing(given: unknown): given is object {
  return typeof given === 'object' && given !== null
}

function isCount(value: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= most
}
