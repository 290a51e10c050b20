import type { CompiledDocument } from '../graph/compiled.js'
import { drawMermaid, mermaidId } from '../graph/draw.js'
import type { PlanLibrary } from './library.js'

/**
 * A document's graph as Mermaid text: of a composite its transitions, of a plan what needs what.
 */
export function drawGraph(compiled: CompiledDocument): string {
  return compiled.kind === 'plan' ? drawPlan(compiled.plan) : drawMermaid(compiled.config)
}

/** A Mermaid `flowchart`: an arrow from each node to those that wait for it. */
function drawPlan({ nodes }: PlanLibrary): string {
  const lines = ['flowchart TD']
  for (const { name } of nodes) lines.push(`  ${mermaidId(name)}["${name}"]`)
  for (const { name, deps } of nodes) {
    for (const dep of deps) {
      lines.push(`  ${mermaidId(nodes[dep]?.name ?? '')} --> ${mermaidId(name)}`)
    }
  }
  return `${lines.join('\n')}\n`
}
