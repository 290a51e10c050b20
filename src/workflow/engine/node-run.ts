import type { BlockContext } from '../../code/index.js'
import type { JsonObject } from '../../core/index.js'
import type { ReadyNode } from '../readiness/readiness.js'
import type { Allowance } from './approve.js'
import type { Asked, Gathered } from './gather.js'
import { hasRules } from './node-spec.js'
import type { EarlierWrite, SealedWrite } from './sealed-write.js'
import type { NodeInput, NodeResult } from './spec.js'

/** What a node's execution has given. */
export interface Executed {
  readonly outputs: JsonObject
  readonly status: NodeResult['status']
}

/** One execution of a node that is ready. */
export interface NodeRun extends Asked {
  readonly gathered: Gathered
  readonly ready: ReadyNode
  /** What holds each execution when it is sent. */
  readonly allowance: Allowance
  /** Absent of reads, and of actions that seal no executions. */
  readonly sending?: Sending
}

/** How an action sends that seals its executions. */
export interface Sending {
  /** What it sends; it is sealed already if `isSealed`. */
  readonly write: SealedWrite
  readonly isSealed: boolean
  /** What earlier attempts have sent of the same. */
  readonly sent: EarlierWrite['sent']
}

/**
 * What a chain said in an earlier attempt is sealed, and may be why that attempt failed: a person
 * who has the node tried again wants to know what the chain says now (W13).
 */
export function anew(
  { attempt }: BlockContext,
  { spec }: NodeInput
): { readonly attempt?: number } {
  return attempt > 1 && hasRules(spec, 3) ? { attempt } : {}
}
