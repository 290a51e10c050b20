import type { JsonObject } from '../../../core/index.js'
import type { PlanDefinition } from '../plan/definition.js'
import type { CompositeDefinition, ConditionDefinition, NodeDefinition } from './definition.js'
import type { BlockRegistry } from './registry.js'

type Parent = Pick<CompositeDefinition | PlanDefinition, 'nodes'> &
  Partial<Pick<CompositeDefinition, 'transitions'>>

/**
 * Versions to which the conditions and repairs of one graph lead, as its definition hash covers
 * them: `{ functions: [{ kind, name, version }] }`. Nothing where none has a version, so that the
 * hashes of documents without such functions stay what they were (B10).
 */
export function functionVersions(
  definition: Parent,
  registry: BlockRegistry
): { readonly functions?: readonly JsonObject[] } {
  const found = new Map<string, JsonObject>()
  const note = (kind: 'condition' | 'repair', name: string) => {
    const version = registry.functionVersion?.(kind, name)
    if (version !== undefined) found.set(`${kind} ${name}`, { kind, name, version })
  }
  for (const node of nodesOf(definition)) {
    for (const step of node.recovery) if (step.kind === 'repair') note('repair', step.repair)
    if (node.confirm?.when?.kind === 'named') note('condition', node.confirm.when.name)
  }
  for (const condition of conditionsOf(definition)) {
    if (condition.kind === 'named') note('condition', condition.name)
  }
  if (found.size === 0) return {}
  const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1))
  return { functions: sorted.map(([, version]) => version) }
}

function nodesOf({ nodes }: Parent): readonly Pick<NodeDefinition, 'recovery' | 'confirm'>[] {
  return Object.values<Pick<NodeDefinition, 'recovery' | 'confirm'>>(nodes)
}

function conditionsOf({ transitions = {} }: Parent): readonly ConditionDefinition[] {
  return Object.values(transitions).flatMap((branches) =>
    branches.map(({ condition }) => condition)
  )
}
