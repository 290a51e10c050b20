import type { Json } from '../../../core/index.js'
import { type Diagnostic, type DocumentPath, type Locate, located } from '../graph/diagnostic.js'
import { nodeOf, schemaProblems } from '../graph/parse.js'
import { type PlanDefinition, type PlanNodeDefinition, planSchemaName } from './definition.js'
import { validatePlan } from './order.js'
import { type PlanDocument, planSchema } from './schema.js'

export type ParsedPlan =
  | { readonly ok: true; readonly definition: PlanDefinition }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * Reads a `tally-plan/1` document (already plain JSON) and checks its graph (C2). Diagnostics carry
 * line and column when `locate` finds paths in the document's text. Never throws for bad data.
 */
export function parsePlan(document: Json, options: { readonly locate?: Locate } = {}): ParsedPlan {
  const refused = (diagnostics: readonly Diagnostic[]): ParsedPlan => ({
    ok: false,
    diagnostics: diagnostics.map((diagnostic) => located(diagnostic, options.locate))
  })
  const parsed = planSchema.safeParse(document)
  if (!parsed.success) return refused(schemaProblems(parsed.error))
  const found: Diagnostic[] = []
  const { name, version, order, parallel, atomic, lanes, nodes, output } = parsed.data
  const definition: PlanDefinition = {
    schema: planSchemaName,
    name,
    version,
    order,
    parallel,
    atomic,
    lanes,
    nodes: nodes.map((node, nodeIndex) => planNodeOf(node, ['nodes', nodeIndex], found)),
    ...(output === undefined ? {} : { output })
  }
  if (found.length === 0) found.push(...validatePlan(definition))
  return found.length === 0 ? { ok: true, definition } : refused(found)
}

function planNodeOf(
  node: PlanDocument['nodes'][number],
  path: DocumentPath,
  found: Diagnostic[]
): PlanNodeDefinition {
  const { id, deps, lane, on_error: onError = 'stop', ...rest } = node
  return {
    ...nodeOf(rest, path, found),
    id,
    deps,
    onError,
    ...(lane === undefined ? {} : { lane })
  }
}
