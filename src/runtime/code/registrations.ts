import type { AgentHost } from '../../agent/index.js'
import type { ConditionPredicate, Provider } from '../../block/index.js'
import type { Block, Request, Response, Workflow } from '../../code/index.js'
import type { Json, Redactor } from '../../core/index.js'
import type { IntentResolver } from '../../intent/index.js'
import type { WorkflowHost } from '../../workflow/index.js'
import type { DeclaredQueues } from './declared-queues.js'
import type { ObligationOptions } from './obligations-in-force.js'

/**
 * What a runtime can run: everything that documents may name. Blocks, composites, conditions and
 * repairs may have several versions side by side (B10).
 */
export interface Registrations {
  readonly blocks?: readonly Block[]
  /** Workflows in code; the blocks that they declare are registered with them. */
  readonly workflows?: readonly Workflow[]
  /**
   * Queues by name: how much of what waits in them is done at once, and how fast. An effect whose
   * step and block name none waits in the queue of its own name.
   */
  readonly queues?: DeclaredQueues
  /** Documents that other documents may `use`: text or parsed. */
  readonly composites?: readonly (string | Json)[]
  /** By `name`, or by `name@version`. */
  readonly conditions?: Readonly<Record<string, ConditionPredicate>>
  /** Pure functions that correct a request after a failure (B8); named as conditions are. */
  readonly repairs?: Readonly<Record<string, (request: Request, failure: Response) => Request>>
  /** Answer effects that give no `perform` of their own. */
  readonly providers?: readonly Provider[]
  /**
   * Knows secrets that the program reads itself, for its own providers: they are replaced wherever
   * the runtime writes. Default: one that knows what the runtime reads.
   */
  readonly redactor?: Redactor
  /** AI providers that say what a text means; the first is asked unless another is named (K11). */
  readonly resolvers?: readonly IntentResolver[]
  /** What flow documents may name: adapters, tools, kinds of nodes. */
  readonly agents?: AgentHost
  /** What documents cannot leave out; beside what blocks declare (K14). */
  readonly obligations?: ObligationOptions
  /** Protocols, packs and the policy of workflows of AIS. */
  readonly workflow?: WorkflowHost
}
