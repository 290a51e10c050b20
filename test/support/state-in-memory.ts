import type { StatePort } from '../../src/capability/index.js'
import type { Json } from '../../src/core/index.js'

/** State as system intents see it, by itself. */
export function stateInMemory(): StatePort & { readonly entries: Map<string, Json> } {
  const entries = new Map<string, Json>()
  return {
    entries,
    get: (key) => entries.get(key),
    set: (key, value) => void entries.set(key, value),
    delete: (key) => void entries.delete(key)
  }
}
