import type { BlockRegistry, Pins } from '../../block/index.js'
import { versionedName } from '../../core/index.js'

/**
 * Stands for code that is not here: what pins say of it is all that a definition hash covers. What
 * is compiled with it can be named, and never run. Other documents are not known to it.
 */
export function pinnedNames(pins: Pins): BlockRegistry {
  const pinned = (kind: keyof Pins, name: string): string | undefined => {
    const versions = pins[kind] ?? {}
    return Object.hasOwn(versions, name) ? versions[name] : undefined
  }
  return {
    block: (reference) => {
      const { name, version = pinned('blocks', name) } = versionedName(reference)
      return version === undefined ? undefined : { name, version, sideEffects: 'none' }
    },
    composite: () => undefined,
    condition: () => () => false,
    repair: () => (request) => request,
    functionVersion: (kind, name) => pinned(kind === 'condition' ? 'conditions' : 'repairs', name)
  }
}
