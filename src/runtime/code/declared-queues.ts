import { canonicalize, runtimeError, type TallyError } from '../../core/index.js'
import {
  type BlockQueue,
  type HeldLimits,
  hasLimits,
  heldLimits,
  type QueueLimits,
  queueNameProblem
} from '../../queue/index.js'
import type { NamedCode } from './named-code.js'

/** The queues of a program by name, as its options and its code say them. */
export type DeclaredQueues = Readonly<Record<string, QueueLimits>>

/**
 * All queues that are declared, with their limits. Throws `runtime.invalid_queue` for limits that
 * cannot hold, for two that differ, and for a block or workflow that names a queue of which nothing
 * says what holds.
 */
export function declaredQueues(
  given: DeclaredQueues,
  code: NamedCode
): ReadonlyMap<string, HeldLimits> {
  const found = new Map<string, HeldLimits>()
  for (const [name, own] of Object.entries(given)) add(found, name, own)
  const named = [...code.values('blocks'), ...code.values('workflows')].flatMap(
    ({ queue }): readonly BlockQueue[] => (queue === undefined ? [] : [queue])
  )
  for (const queue of named) if (hasLimits(queue)) add(found, queue.name, queue)
  for (const { name } of named) if (!found.has(name)) throw invalid(name, 'it is not declared')
  return found
}

function add(found: Map<string, HeldLimits>, name: string, given: QueueLimits): void {
  const held = heldLimits(given)
  const problem = queueNameProblem(name) ?? ('problem' in held ? held.problem : undefined)
  if (problem !== undefined || 'problem' in held) throw invalid(name, problem ?? '')
  const before = found.get(name)
  if (before !== undefined && !isSame(before, held)) {
    throw invalid(name, 'it is declared twice, with other limits')
  }
  found.set(name, held)
}

function isSame(one: HeldLimits, other: HeldLimits): boolean {
  return textOf(one) === textOf(other)
}

function textOf({ concurrency, partitionConcurrency, rate }: HeldLimits): string {
  return canonicalize([concurrency, partitionConcurrency, rate?.limit ?? 0, rate?.perMs ?? 0])
}

function invalid(name: string, problem: string): TallyError {
  return runtimeError('runtime.invalid_queue', { name, problem })
}
