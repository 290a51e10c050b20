import { agentError } from '../../core/index.js'
import type { AgentAdapter } from './adapter.js'

/** Makes an adapter; called once per registry, when the kind is first asked for. */
export type AdapterFactory = () => AgentAdapter

/**
 * Adapter kinds by name (A1).
 *
 * Owns: the factories, and one adapter of each kind that was asked for.
 * Does not own: sessions; the caller that opens one disposes of it.
 */
export class AdapterRegistry {
  readonly #factories = new Map<string, AdapterFactory>()
  readonly #made = new Map<string, AgentAdapter>()

  /** Throws `agent.duplicate_adapter`. */
  registerAdapter(kind: string, factory: AdapterFactory): this {
    if (this.#factories.has(kind)) throw agentError('agent.duplicate_adapter', { kind })
    this.#factories.set(kind, factory)
    return this
  }

  has(kind: string): boolean {
    return this.#factories.has(kind)
  }

  /** Registered kinds, sorted. */
  kinds(): readonly string[] {
    return [...this.#factories.keys()].sort()
  }

  /** Throws `agent.unknown_adapter`. */
  adapter(kind: string): AgentAdapter {
    const known = this.#made.get(kind)
    if (known !== undefined) return known
    const factory = this.#factories.get(kind)
    if (factory === undefined) {
      const kinds = this.kinds().join(', ')
      throw agentError('agent.unknown_adapter', { kind, kinds: kinds === '' ? 'none' : kinds })
    }
    const adapter = factory()
    this.#made.set(kind, adapter)
    return adapter
  }
}
