import type { Diagnostic, DocumentPath } from '../graph/diagnostic.js'
import { lintGraph } from '../graph/lint.js'
import { type DocumentDefinition, isPlanDefinition, type PlanDefinition } from './definition.js'

/** Doubtful things in a valid document, a composite's or a plan's. */
export function lintDocument(definition: DocumentDefinition): readonly Diagnostic[] {
  return isPlanDefinition(definition) ? lintPlan(definition) : lintGraph(definition)
}

/**
 * Doubtful things in a valid plan: a lane that no node takes, fallback where there are no
 * providers, and whatever is doubtful in composites inside.
 */
function lintPlan({ nodes, lanes }: PlanDefinition): readonly Diagnostic[] {
  const found: Diagnostic[] = []
  const warn = (path: DocumentPath, message: string) => {
    found.push({ reason: 'lint', path, message })
  }
  const taken = new Set(nodes.map(({ lane }) => lane))
  for (const lane of Object.keys(lanes)) {
    if (!taken.has(lane)) warn(['lanes', lane], 'no node is in this lane')
  }
  for (const [nodeIndex, { work, recovery }] of nodes.entries()) {
    if (work.kind === 'block') continue
    if (recovery.some(({ kind }) => kind === 'fallback')) {
      warn(['nodes', nodeIndex, 'recovery'], 'a composite has no providers to fall back to')
    }
    if (work.kind === 'composite') {
      found.push(...lintGraph(work.graph, ['nodes', nodeIndex, 'composite']))
    }
  }
  return found
}
