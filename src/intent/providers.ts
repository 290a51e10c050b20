import type { Block, KernelPort } from '../block/index.js'
import {
  type CapabilityProvider,
  canonicalActions,
  missing,
  preferred,
  route,
  type StateReader
} from '../capability/index.js'
import { type IdentityId, type Json, TallyError } from '../core/index.js'
import type { Intent } from './intent.js'
import type { PackageShelf } from './shelf.js'

/** Who does an intent. */
export type Choice =
  | { readonly kind: 'block'; readonly block: Block }
  | { readonly kind: 'package'; readonly provider: CapabilityProvider }
  | { readonly kind: 'none'; readonly reason: 'no_match' | 'no_provider' }

/**
 * Trusted blocks and packages by what they serve (K4). First match: the provider that is named, a
 * package that the owner prefers, a trusted block that serves exactly this action, packages in
 * their own order, a trusted block that serves a longer form of it.
 *
 * Owns: the table of trusted blocks. Does not own: packages, or preferences, which are state.
 */
export class Providers {
  readonly #byIntent = new Map<string, Block>()
  readonly #byName = new Map<string, Block>()
  readonly #shelf: PackageShelf

  /** Throws `intent.duplicate_server` when two blocks serve one action. */
  constructor(blocks: readonly Block[], shelf: PackageShelf) {
    this.#shelf = shelf
    for (const block of blocks) {
      this.#byName.set(block.name, block)
      for (const intent of block.intents) {
        const other = this.#byIntent.get(intent)
        if (other !== undefined) {
          throw new TallyError('intent.duplicate_server', {
            intent,
            one: other.name,
            other: block.name
          })
        }
        this.#byIntent.set(intent, block)
      }
    }
  }

  /** A registered block by its name. */
  block(name: string): Block | undefined {
    return this.#byName.get(name)
  }

  /** Chooses by the state as it is now; nothing of it is recorded, the choice is. */
  choose(intent: Intent, { named, identity, state }: ChoiceContext): Choice {
    const { action } = intent
    const wanted = named ?? intent.provider
    if (wanted !== undefined) return this.#named(action, wanted, { identity, state })
    const exact = this.#exact(action)
    const favourite = this.#preferred(action, state)
    if (exact !== undefined && favourite === undefined) return { kind: 'block', block: exact }
    const routed = this.#package(action, { identity, state })
    if (routed !== undefined) return routed
    const block = exact ?? this.#longer(action)
    return block === undefined ? { kind: 'none', reason: 'no_match' } : { kind: 'block', block }
  }

  #exact(action: string): Block | undefined {
    const canonical = canonicalActions.get(action)
    const own = this.#byIntent.get(action)
    return own ?? (canonical === undefined ? undefined : this.#byIntent.get(canonical))
  }

  #longer(action: string): Block | undefined {
    for (let dot = action.lastIndexOf('.'); dot > 0; dot = action.lastIndexOf('.', dot - 1)) {
      const block = this.#byIntent.get(action.slice(0, dot))
      if (block !== undefined) return block
    }
    return undefined
  }

  #preferred(action: string, state: StateReader): string | undefined {
    if (this.#shelf.registry.packages.size === 0) return undefined
    return preferred(state, canonicalActions.get(action) ?? action) ?? preferred(state, action)
  }

  #named(action: string, name: string, context: Omit<ChoiceContext, 'named'>): Choice {
    const block = this.#byName.get(name)
    const serves =
      block !== undefined && [this.#exact(action), this.#longer(action)].includes(block)
    if (serves) return { kind: 'block', block }
    const routed = this.#package(action, context, name)
    return routed ?? { kind: 'none', reason: 'no_provider' }
  }

  #package(
    action: string,
    { identity, state }: Omit<ChoiceContext, 'named'>,
    name?: string
  ): Choice | undefined {
    const { registry } = this.#shelf
    if (registry.packages.size === 0) return undefined
    const found = route(registry, {
      action,
      isGranted: ({ codeHash, declared }) =>
        missing(state, { identity, codeHash, capabilities: declared }).length === 0,
      preferred: (subject) => name ?? preferred(state, subject)
    })
    if (found.kind === 'no_match') return undefined
    const { provider } = found
    return name === undefined || provider.packageId === name
      ? { kind: 'package', provider }
      : undefined
  }
}

export interface ChoiceContext {
  /** Provider that a recovery step names (C3). */
  readonly named: string | undefined
  readonly identity: IdentityId
  readonly state: StateReader
}

/** The state now, not recorded as read. */
export function currentState(port: Pick<KernelPort, 'current'>): StateReader {
  return { get: (key) => parsed(port.current(key)) }
}

/** The state that the unit rests on. */
export function recordedState(port: Pick<KernelPort, 'read'>): StateReader {
  return { get: (key) => parsed(port.read(key)) }
}

function parsed(text: string | undefined): Json | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Json)
}
