import type { Diagnostic, DocumentDefinition, PlanNodeDefinition } from '../../block/index.js'
import { versionedName } from '../../core/index.js'

type Graph = Pick<DocumentDefinition, 'nodes'>
type Node = Pick<PlanNodeDefinition, 'work' | 'recovery'>
type Path = Diagnostic['path']

/**
 * Nodes of a document that name a block of workflows. Such a block believes the specification that
 * it is given: which policy holds, and whether a person is asked. Only what the workflow room
 * compiles has one that the host's packs and bounds have gone into (K15).
 */
export function workflowBlocksIn(
  { nodes }: Graph,
  isOfWorkflows: (block: string) => boolean,
  path: Path = []
): readonly Diagnostic[] {
  return Object.entries<Node>(nodes).flatMap(([key, { work, recovery }]) => {
    const at = [...path, 'nodes', Array.isArray(nodes) ? Number(key) : key]
    if (work.kind === 'composite') {
      return workflowBlocksIn(work.graph, isOfWorkflows, [...at, 'composite'])
    }
    const named = work.kind === 'block' ? [work.block] : []
    const others = recovery.flatMap((step) => (step.kind === 'fallback' ? step.providers : []))
    const found = [...named, ...others].find((name) => isOfWorkflows(versionedName(name).name))
    if (found === undefined) return []
    const message = `${found} is done by workflows alone: write it as one of AIS`
    return [{ reason: 'invalid_graph', path: at, message }]
  })
}
