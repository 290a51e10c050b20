import type { CapabilityRegistry } from '../../capability/index.js'
import { limits } from '../../core/index.js'
import { systemIntents } from '../names.js'
import { mayBeTold } from './answer.js'
import type { KnownAction } from './resolver.js'

/** What a text may come to: what packages and trusted blocks serve, and what the kernel reads. */
export function knownActions(options: {
  readonly registry: CapabilityRegistry
  /** Actions of trusted blocks. */
  readonly trusted?: readonly string[]
}): readonly KnownAction[] {
  const { registry, trusted = [] } = options
  const known = new Map<string, KnownAction>()
  for (const action of [...systemIntents, ...trusted]) known.set(action, { action })
  for (const { manifest } of registry.packages.values()) {
    for (const action of manifest.intents) known.set(action, known.get(action) ?? { action })
    for (const { id, canonical, description, input } of manifest.capabilitySchemas) {
      for (const action of new Set([id, canonical])) {
        known.set(action, {
          action,
          ...(description === undefined ? {} : { description }),
          ...(input === undefined ? {} : { inputs: input })
        })
      }
    }
  }
  return [...known.values()]
    .filter(({ action }) => mayBeTold(action))
    .sort((left, right) => (left.action < right.action ? -1 : 1))
    .slice(0, limits.KNOWN_ACTIONS_MAX)
}
