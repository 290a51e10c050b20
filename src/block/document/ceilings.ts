import { stricterApprovers } from '../../identity/index.js'
import { lowest } from '../code/obligation.js'
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
  node: Pick<NodeDefinition, 'recovery' | 'timeoutMs' | 'deferred'>,
  child: CompiledNode,
  registry: BlockRegistry
): Ceilings {
  const attempts: Record<string, number> = {}
  let { timeoutMs } = node
  for (const [name, leaf] of leavesOf(node, child, registry)) {
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
export function repeatedBlock(
  node: Pick<NodeDefinition, 'recovery'>,
  child: CompiledNode,
  registry: BlockRegistry
): string | undefined {
  const seen = new Set<string>()
  for (const [, leaf] of leavesOf(node, child, registry)) {
    if (leaf.obligations?.own?.limits?.attempts === undefined) continue
    const name = `${leaf.name}@${leaf.version}`
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/** A block of a node with other approvers than the node names, of which neither is the stricter. */
export function unfitApprovers(
  node: Pick<NodeDefinition, 'recovery' | 'confirm'>,
  child: CompiledNode,
  registry: BlockRegistry
): string | undefined {
  const named = node.confirm?.approvers
  const unfit = leavesOf(node, child, registry).find(([, leaf]) => {
    return stricterApprovers(leaf.obligations?.own?.confirm?.approvers, named) === null
  })
  return unfit?.[0]
}

function leavesOf(
  { recovery }: Pick<NodeDefinition, 'recovery'>,
  child: CompiledNode,
  registry: BlockRegistry
): readonly (readonly [name: string, LeafDefinition])[] {
  if (child.kind !== 'leaf') return []
  const own = registry.block(child.reference)
  // A leaf of the kernel chooses among providers by itself.
  if (own === undefined || own.kernel !== undefined) return []
  const others = recovery.flatMap((step) => (step.kind === 'fallback' ? step.providers : []))
  return [child.reference, ...others].flatMap((name) => {
    const leaf = registry.block(name)
    return leaf === undefined ? [] : [[name, leaf] as const]
  })
}
