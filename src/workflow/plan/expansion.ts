import type { FlowDocument, OnError } from '../document/flow.js'
import type { ProtocolDocument } from '../document/protocol.js'
import type { CompileValues } from '../value/compile.js'
import type { PlanPlaces } from './plan.js'
import type { ResolvedNode } from './resolve.js'

/** What is the same for all nodes of one workflow. */
export interface Expansion {
  readonly flow: FlowDocument
  readonly values: CompileValues
  readonly resolved: ReadonlyMap<string, ResolvedNode>
  readonly nodeIds: ReadonlySet<string>
  readonly inputs: ReadonlySet<string>
  /** Protocols of the workflow's nodes, each once. */
  readonly used: readonly ProtocolDocument[]
  /** Nodes, and steps of nodes, whose ids in the workflow hold "__". */
  readonly places: ReadonlyMap<string, PlanPlaces[string]>
  /** What a failure leads to where the workflow says nothing. */
  readonly onError: OnError
}
