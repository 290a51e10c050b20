import type { CapabilityProvider, CapabilityRegistry } from './registry.js'

/** Canonical names of actions that the kernel knows from the start. */
export const canonicalActions: ReadonlyMap<string, string> = new Map([
  ['ai.chat', 'ai.chat'],
  ['ai.summarize', 'ai.summarize'],
  ['context.query', 'system.status'],
  ['notes.create', 'notes.create'],
  ['notes.search', 'notes.search'],
  ['view.open', 'navigation.open'],
  ['wallet.balance', 'finance.balance'],
  ['wallet.burnFC', 'finance.burn'],
  ['wallet.mintFC', 'finance.mint'],
  ['wallet.send', 'finance.transactions']
])

export interface RouteQuery {
  readonly action: string
  /** Whether all declared capabilities of a provider are granted. */
  readonly isGranted: (provider: CapabilityProvider) => boolean
  /** Package that the owner prefers for a canonical name or an action. */
  readonly preferred?: (subject: string) => string | undefined
}

export type Route =
  | {
      readonly kind: 'provider'
      readonly stage: 'canonical' | 'ai' | 'manifest'
      /** What a preference for this choice is stored under. */
      readonly subject: string
      readonly provider: CapabilityProvider
      /** False: no provider that can do it is granted, and this one should ask. */
      readonly isGranted: boolean
    }
  | { readonly kind: 'no_match' }

/**
 * Finds who answers an action (semantics.md K4). First match: canonical registry, `ai.*` registry,
 * manifest intents (exact, then `declared + '.'`), packages in id order. Among several only granted
 * ones compete, so that a newcomer never displaces one that works; if none is granted, the first
 * asks. Pure: the choice goes into the receipt, and a replay does not route again.
 */
export function route(registry: CapabilityRegistry, query: RouteQuery): Route {
  const { action } = query
  const canonical = canonicalActions.get(action) ?? action
  const byName = registry.getProviders(canonical)
  if (byName.length > 0) return chosen('canonical', canonical, byName, query)
  const byAi = action.startsWith('ai.') ? registry.aiProviders(action) : []
  if (byAi.length > 0) return chosen('ai', action, byAi, query)
  const exact = registry.servers(action)
  if (exact.length > 0) return chosen('manifest', action, exact, query)
  return byPrefix(registry, query)
}

/** Servers of `a.b` and of `a` for `a.b.c`, as one list by id; only its head is ever made. */
function byPrefix(registry: CapabilityRegistry, query: RouteQuery): Route {
  const { action, preferred } = query
  const wanted = preferred?.(action)
  let best: Route = { kind: 'no_match' }
  for (let dot = action.lastIndexOf('.'); dot > 0; dot = action.lastIndexOf('.', dot - 1)) {
    const found = chosen('manifest', action, registry.servers(action.slice(0, dot)), query)
    if (found.kind === 'provider' && comesBefore(found, best, wanted)) best = found
  }
  // The package hears the action as it stands, not the prefix under which it was found.
  return best.kind === 'provider'
    ? { ...best, provider: { ...best.provider, action } }
    : { kind: 'no_match' }
}

function comesBefore(
  one: Extract<Route, { kind: 'provider' }>,
  other: Route,
  wanted: string | undefined
): boolean {
  if (other.kind === 'no_match') return true
  const [left, right] = [one.provider.packageId, other.provider.packageId]
  if (left === wanted || right === wanted) return right !== wanted
  return one.isGranted === other.isGranted ? left < right : one.isGranted
}

function chosen(
  stage: 'canonical' | 'ai' | 'manifest',
  subject: string,
  providers: readonly CapabilityProvider[],
  { isGranted, preferred }: RouteQuery
): Route {
  const wanted = preferred?.(subject)
  const favourite =
    wanted === undefined ? undefined : providers.find(({ packageId }) => packageId === wanted)
  if (favourite !== undefined) {
    return {
      kind: 'provider',
      stage,
      subject,
      provider: favourite,
      isGranted: isGranted(favourite)
    }
  }
  const granted = providers.find(isGranted)
  const provider = granted ?? providers[0]
  if (provider === undefined) return { kind: 'no_match' }
  return { kind: 'provider', stage, subject, provider, isGranted: granted !== undefined }
}
