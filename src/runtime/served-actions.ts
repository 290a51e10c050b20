import type { DocumentDefinition, PlanNodeDefinition } from '../block/index.js'
import { isJsonObject } from '../core/index.js'
import { writtenOut } from './used-inputs.js'

type Node = Pick<PlanNodeDefinition, 'work' | 'input'>

/** Actions of intents that a definition's steps do, as far as its text tells, each once. */
export function servedActions(
  definition: Pick<DocumentDefinition, 'nodes'>,
  isKernel: (block: string) => boolean
): readonly string[] {
  const actions = Object.values<Node>(definition.nodes).flatMap(({ work, input }) => {
    if (work.kind === 'composite') return servedActions(work.graph, isKernel)
    if (work.kind !== 'block' || input === undefined || !isKernel(work.block)) return []
    const known = writtenOut(input)
    const { action } = isJsonObject(known) ? known : {}
    return typeof action === 'string' ? [action] : []
  })
  return [...new Set(actions)]
}
