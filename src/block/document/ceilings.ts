import { lowest } from '../../code/index.js'
import { isSliceFull, type Pieces, passSteps } from '../../core/index.js'
import { stricterApprovers } from '../../identity/index.js'
import type { CompiledNode } from './compiled.js'
import type { NodeDefinition } from './definition.js'
import type { BlockRegistry, LeafDefinition } from './registry.js'

/** Bounds that the blocks of a node set to what its document may ask for (semantics.md K14). */
export interface Ceilings {
  readonly timeoutMs?: number
  readonly attempts?: Readonly<Record<string, number>>
}

/** The stricter of what a node and its blocks say, those of fallbacks included. */
export function ceilingsOf(
  node: Pick<NodeDefinition, 'timeoutMs' | 'deferred'>,
  leaves: Leaves
): Ceilings {
  const attempts: Record<string, number> = {}
  let { timeoutMs } = node
  for (const [name, leaf] of leaves) {
    const limits = leaf.obligations?.own?.limits
    if (limits === undefined) continue
    if (limits.attempts !== undefined) attempts[name] = limits.attempts
    // What is put off is done after a commit, however long it takes.
    if (node.deferred !== true) timeoutMs = lowest(timeoutMs, limits.timeoutMs)
  }
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(Object.keys(attempts).length === 0 ? {} : { attempts })
  }
}

/** A block with a limit of attempts that stands more than once among those of a node. */
export function repeatedBlock(leaves: Leaves): string | undefined {
  const seen = new Set<string>()
  for (const [, leaf] of leaves) {
    if (leaf.obligations?.own?.limits?.attempts === undefined) continue
    const name = `${leaf.name}@${leaf.version}`
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/** A block of a node with other approvers than the node names, of which neither is the stricter. */
export function unfitApprovers(
  node: Pick<NodeDefinition, 'confirm'>,
  leaves: Leaves
): string | undefined {
  const named = node.confirm?.approvers
  const unfit = leaves.find(([, leaf]) => {
    return stricterApprovers(leaf.obligations?.own?.confirm?.approvers, named) === null
  })
  return unfit?.[0]
}

/** The blocks of a node with the names that lead to them, those of fallbacks included. */
export type Leaves = readonly (readonly [name: string, LeafDefinition])[]

/** Work of looking at one block of a node. */
const STEPS_OF_LEAF = 8

export function* leavesOf(
  { recovery }: Pick<NodeDefinition, 'recovery'>,
  child: CompiledNode,
  registry: BlockRegistry
): Pieces<Leaves> {
  if (child.kind !== 'leaf') return []
  const own = registry.block(child.reference)
  // A leaf of the kernel chooses among providers by itself.
  if (own === undefined || own.kernel !== undefined) return []
  const leaves: [string, LeafDefinition][] = [[child.reference, own]]
  for (const step of recovery) {
    for (const name of step.kind === 'fallback' ? step.providers : []) {
      passSteps(STEPS_OF_LEAF)
      if (isSliceFull()) yield
      const leaf = registry.block(name)
      if (leaf !== undefined) leaves.push([name, leaf])
    }
  }
  return leaves
}
