import type { Reference } from '../../expression/index.js'
import type { FlowDocument } from '../document/flow.js'
import type { Issues } from '../document/issue.js'
import type { PackDocument } from '../document/pack.js'
import type { AisValue } from '../document/value.js'
import type { AisPlan } from '../plan/plan.js'
import type { ResolvedNode } from '../plan/resolve.js'
import type { CompileValues, Scope } from '../value/compile.js'

/** A value of a workflow's node with what it reads. */
export interface ReadValue {
  readonly value: AisValue
  readonly scope: Scope
  /** Below the node. */
  readonly path: readonly (string | number)[]
  readonly references: readonly Reference[]
}

/** A workflow with its plan, as lint rules look at it. */
export interface LintSubject {
  readonly flow: FlowDocument
  readonly plan: AisPlan
  readonly packs: readonly PackDocument[]
  /** What compiles the values of workflows. */
  readonly values: CompileValues
  readonly nodes: readonly LintNode[]
  readonly byId: ReadonlyMap<string, LintNode>
}

export interface LintNode extends ResolvedNode {
  readonly id: string
  /** Values that the workflow's author wrote. */
  readonly values: readonly ReadValue[]
}

/** Where a rule tells what it found about a node. */
export function issuesOf(node: LintNode, issues: Issues): Issues {
  return issues.below(node.path, { nodeId: node.id })
}
