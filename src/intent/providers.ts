import {
  type CapabilityProvider,
  canonicalActions,
  missing,
  preferred,
  route,
  type StateReader,
  stateOf
} from '../capability/index.js'
import type { Block, IntentPort, PinnedBlocks } from '../code/index.js'
import {
  type IdentityId,
  intentError,
  referenceTo,
  VersionTable,
  versionedName
} from '../core/index.js'
import type { Intent } from './intent.js'
import type { PackageCache } from './package-cache.js'

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
  /** Blocks that serve an action: versions of one name. */
  readonly #byIntent = new Map<string, Servers>()
  readonly #byName = new VersionTable<Block>()
  readonly #packageCache: PackageCache

  /** Throws `intent.duplicate_server` when two blocks serve one action. */
  constructor(blocks: readonly Block[], packageCache: PackageCache) {
    this.#packageCache = packageCache
    for (const block of blocks) {
      const { name, version } = block
      this.#byName.add(name, version, block)
      for (const intent of block.intents) {
        const servers = this.#byIntent.get(intent) ?? { name, versions: new VersionTable() }
        if (servers.name !== name) {
          throw intentError('intent.duplicate_server', {
            intent,
            one: servers.name,
            other: name
          })
        }
        servers.versions.add(name, version, block)
        this.#byIntent.set(intent, servers)
      }
    }
  }

  /** A registered block by `name` or `name@version`. */
  block(reference: string): Block | undefined {
    return this.#byName.resolve(reference)?.value
  }

  /** The trusted block that an action is routed to, if no package goes before it. */
  serving(action: string): Block | undefined {
    return this.#exact(action) ?? this.#longer(action)
  }

  /** Chooses by the state as it is now; nothing of it is recorded, the choice is. */
  choose(
    intent: Pick<Intent, 'action' | 'provider'>,
    { named, identity, state, pinned }: ChoiceContext
  ): Choice {
    const { action } = intent
    const wanted = named ?? intent.provider
    if (wanted !== undefined) return this.#named(action, wanted, { identity, state, pinned })
    const exact = this.#exact(action, pinned)
    const favourite = this.#preferred(action, state)
    if (exact !== undefined && favourite === undefined) return { kind: 'block', block: exact }
    const routed = this.#package(action, { identity, state })
    if (routed !== undefined) return routed
    const block = exact ?? this.#longer(action, pinned)
    return block === undefined ? { kind: 'none', reason: 'no_match' } : { kind: 'block', block }
  }

  #exact(action: string, pinned?: PinnedBlocks): Block | undefined {
    const canonical = canonicalActions.get(action)
    const own = this.#servers(action, pinned)
    return own ?? (canonical === undefined ? undefined : this.#servers(canonical, pinned))
  }

  #longer(action: string, pinned?: PinnedBlocks): Block | undefined {
    for (let dot = action.lastIndexOf('.'); dot > 0; dot = action.lastIndexOf('.', dot - 1)) {
      const block = this.#servers(action.slice(0, dot), pinned)
      if (block !== undefined) return block
    }
    return undefined
  }

  /** The version of what serves an action that the run has pinned, or that its name leads to. */
  #servers(action: string, pinned: PinnedBlocks | undefined): Block | undefined {
    const servers = this.#byIntent.get(action)
    if (servers === undefined) return undefined
    const { name, versions } = servers
    const version = pinned !== undefined && Object.hasOwn(pinned, name) ? pinned[name] : undefined
    return versions.resolve(referenceTo(name, version))?.value
  }

  #preferred(action: string, state: StateReader): string | undefined {
    if (this.#packageCache.registry.packages.size === 0) return undefined
    return preferred(state, canonicalActions.get(action) ?? action) ?? preferred(state, action)
  }

  #named(action: string, wanted: string, context: Omit<ChoiceContext, 'named'>): Choice {
    const { name, version } = versionedName(wanted)
    // The version that is named goes before the one that is pinned for the name alone.
    const pinned = version === undefined ? context.pinned : { [name]: version }
    const serving = [this.#exact(action, pinned), this.#longer(action, pinned)]
    const block = serving.find((one) => one?.name === name)
    if (block !== undefined) return { kind: 'block', block }
    const routed = this.#package(action, context, wanted)
    return routed ?? { kind: 'none', reason: 'no_provider' }
  }

  #package(
    action: string,
    { identity, state }: Omit<ChoiceContext, 'named' | 'pinned'>,
    name?: string
  ): Choice | undefined {
    const { registry } = this.#packageCache
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
  /** Versions that the run has pinned (B10). */
  readonly pinned: PinnedBlocks | undefined
}

interface Servers {
  readonly name: string
  readonly versions: VersionTable<Block>
}

/** The state now, not recorded as read. */
export function currentState(port: Pick<IntentPort, 'current'>): StateReader {
  return stateOf({ read: (key) => port.current(key) })
}

/** The state that the unit depends on. */
export function recordedState(port: Pick<IntentPort, 'read'>): StateReader {
  return stateOf(port)
}
