import type { SideEffectClass } from '../../code/index.js'
import { capabilityError, type Hash } from '../../core/index.js'
import { declaredCapabilities, type Manifest, type Score } from '../manifest/manifest.js'
import { compareRationals, type Rational, scoreOf } from './rational.js'

/** A package that can answer an intent, and what the intent is called there. */
export interface CapabilityProvider {
  readonly packageId: string
  /** That of its manifest. */
  readonly version: string
  readonly codeHash: Hash
  /** Action under which the package serves it; the intent is rewritten to it. */
  readonly action: string
  /** Capabilities that must all be granted before it runs, sorted. */
  readonly declared: readonly string[]
  readonly score: Rational
  readonly sideEffectClass: SideEffectClass
}

export interface RoutedPackage {
  readonly manifest: Manifest
  readonly codeHash: Hash
}

/** Installed packages, arranged for routing; made anew when one comes or goes. */
export interface CapabilityRegistry {
  readonly packages: ReadonlyMap<string, RoutedPackage>
  /** Providers of a canonical name, the best score first, ties by id. */
  getProviders(canonical: string): readonly CapabilityProvider[]
  /** Providers of an `ai.*` name, the best first. */
  aiProviders(name: string): readonly CapabilityProvider[]
  /** Packages whose manifest lists exactly this intent, by id. */
  servers(intent: string): readonly CapabilityProvider[]
}

/**
 * Arranges installed packages. Throws `capability.duplicate_package` when two have one id, and
 * `capability.invalid_score` for a negative score.
 */
export function createRegistry(packages: readonly RoutedPackage[]): CapabilityRegistry {
  const sorted = [...packages].sort((left, right) => order(left.manifest.id, right.manifest.id))
  const byId = new Map<string, RoutedPackage>()
  const canonical = new Map<string, CapabilityProvider[]>()
  const ai = new Map<string, CapabilityProvider[]>()
  const intents = new Map<string, CapabilityProvider[]>()
  for (const one of sorted) {
    const { id } = one.manifest
    if (byId.has(id)) throw capabilityError('capability.duplicate_package', { id })
    byId.set(id, one)
    for (const { name, provider } of offers(one)) {
      put(canonical, name, provider)
      if (provider.action.startsWith('ai.')) put(ai, provider.action, provider)
    }
    for (const intent of one.manifest.intents) {
      put(intents, intent, providerOf(one, { action: intent, score: {} }))
    }
  }
  for (const list of [...canonical.values(), ...ai.values()]) list.sort(betterFirst)
  const listed =
    (table: ReadonlyMap<string, readonly CapabilityProvider[]>) =>
    (name: string): readonly CapabilityProvider[] =>
      table.get(name) ?? []
  return {
    packages: byId,
    getProviders: listed(canonical),
    aiProviders: listed(ai),
    servers: listed(intents)
  }
}

// A plain name in `capabilities` is a wish, not an offer: only an entry with a canonical name, and
// every capability schema, says that the package can do it for others.
function offers(
  one: RoutedPackage
): readonly { readonly name: string; readonly provider: CapabilityProvider }[] {
  const { capabilities, capabilitySchemas } = one.manifest
  const entries = capabilities.flatMap(({ name, canonical, ...rest }) =>
    canonical === undefined ? [] : [{ ...rest, action: name, canonical }]
  )
  const schemas = capabilitySchemas.map(({ id, ...rest }) => ({ ...rest, action: id }))
  const found = new Map<string, { name: string; provider: CapabilityProvider }>()
  for (const { canonical, action, ...rest } of [...schemas, ...entries]) {
    const { sideEffectClass } = rest
    const provider = providerOf(one, {
      action,
      score: rest,
      ...(sideEffectClass === undefined ? {} : { sideEffectClass })
    })
    found.set(`${canonical} ${action}`, { name: canonical, provider })
  }
  return [...found.values()]
}

function providerOf(
  { manifest, codeHash }: RoutedPackage,
  offer: {
    readonly action: string
    readonly score: Score
    readonly sideEffectClass?: SideEffectClass
  }
): CapabilityProvider {
  return {
    packageId: manifest.id,
    version: manifest.version,
    codeHash,
    action: offer.action,
    declared: declaredCapabilities(manifest),
    score: scoreOf(offer.score, `${offer.action} of ${manifest.id}`),
    sideEffectClass: offer.sideEffectClass ?? 'non_idempotent'
  }
}

function betterFirst(left: CapabilityProvider, right: CapabilityProvider): number {
  return (
    compareRationals(right.score, left.score) ||
    order(left.packageId, right.packageId) ||
    order(left.action, right.action)
  )
}

function put<Value>(table: Map<string, Value[]>, key: string, value: Value): void {
  const list = table.get(key)
  if (list === undefined) table.set(key, [value])
  else list.push(value)
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
