import { spendWork } from '../../core/index.js'
import type { AisPlan } from '../plan/plan.js'

/** Ids of nodes of the workflow. */
type NodeIds = ReadonlySet<string>

/** Nodes that wait, directly or not, for another one that is wanted; steps count as their node. */
export function waitingFor(plan: AisPlan, isWanted: (node: string) => boolean): NodeIds {
  spendWork(plan.nodes.length)
  const found = new Set<string>()
  const nodeOf = new Map(plan.nodes.map(({ id, source }) => [id, source.node]))
  // What a node waits for stands before it.
  const reaching = new Set<string>()
  for (const { id, deps, source } of plan.nodes) {
    const reaches = deps.some((dep) => {
      const before = nodeOf.get(dep) ?? dep
      return reaching.has(dep) || (before !== source.node && isWanted(before))
    })
    if (!reaches) continue
    reaching.add(id)
    found.add(source.node)
  }
  return found
}

/** Nodes for which another one that is wanted waits, directly or not. */
export function awaitedBy(plan: AisPlan, isWanted: (node: string) => boolean): NodeIds {
  spendWork(plan.nodes.length)
  const found = new Set<string>()
  const nodeOf = new Map(plan.nodes.map(({ id, source }) => [id, source.node]))
  const awaited = new Set<string>()
  for (const { id, deps, source } of plan.nodes.toReversed()) {
    for (const dep of deps) {
      const before = nodeOf.get(dep) ?? dep
      if (!awaited.has(id) && (before === source.node || !isWanted(source.node))) continue
      awaited.add(dep)
      found.add(before)
    }
  }
  return found
}
