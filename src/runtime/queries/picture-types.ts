import type { Response } from '../../code/index.js'
import type { Hash, Json, RunId } from '../../core/index.js'
import type { ActorAt } from '../run/shown-actors.js'
import type { ShownStatus } from './page-types.js'

/** Pictures of one run: its document, and how it stood after an entry of its journal. */

/** A document as a graph; a composite's own graph stands in its node. */
export interface DocumentGraph {
  /** `function`: a workflow in code, as far as it has come. */
  readonly kind: 'composite' | 'plan' | 'workflow' | 'flow' | 'intent' | 'function'
  readonly name: string
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

/** A node of a document as it is drawn. */
export interface GraphNode {
  /** Path of its actor in the run, as receipts name it: `root/pay`. */
  readonly path: string
  readonly id: string
  /** Block, composite, action or agent that does it. */
  readonly does: string
  readonly sideEffects: string | null
  readonly confirm: boolean
  readonly graph?: DocumentGraph
}

/** A way from one node to another, as it is drawn. */
export interface GraphEdge {
  readonly from: string
  readonly to: string
  /** Place in the order of first match, from 1; null where there is no order. */
  readonly order: number | null
  /** Text of its condition, or null. */
  readonly when: string | null
}

/** The picture of a run: its document's graph, as it was when the run began. */
export interface RunChart {
  readonly id: RunId
  readonly definitionHash: Hash
  readonly graph: DocumentGraph
}

/** A run as it stood after journal entry `entry`, folded from its journal. */
export interface ChartAt {
  readonly entry: number
  readonly at: number
  readonly actors: readonly ActorAt[]
  readonly status: ShownStatus
}

/** A call of one attempt, with what it asked for. */
export interface Call {
  readonly seq: number
  readonly effect: string
  /** Made by executing the code again on its seals; null where the code is not here. */
  readonly request: Json
  readonly requestHash: Hash
  readonly response: Json
  /** SHA-256 of the canonical JSON of `{ body: response, salt }`: what a receipt signs. */
  readonly responseHash: Hash
  readonly salt: Hash
  readonly ok: boolean
}

/** What an attempt was given and asked for: calls in order, from its journal. */
export interface Calls {
  readonly calls: readonly Call[]
  readonly input: Json
  readonly output: Response | null
  readonly notChecked: readonly string[]
}

/** A signal that a run was sent and that no unit of work has taken for good. */
export interface SignalLine {
  readonly name: string
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Who sent it, as claimed. */
  readonly by: Json
  readonly value: Json
  /**
   * Path of the attempt that was given it and has not succeeded for good, which gives it back when
   * it fails; null: the run's code has not asked for it yet.
   */
  readonly takenAt: string | null
}
