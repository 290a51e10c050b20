import {
  type CapabilityProvider,
  type CapabilityRegistry,
  canonicalActions,
  type Manifest,
  type RouteQuery,
  route
} from '../../capability/index.js'
import { canonicalize, isJsonObject, type Json, type JsonObject, limits } from '../../core/index.js'
import type { Intent } from '../intent.js'
import { isSystemIntent } from '../names.js'
import type { PlannedIntent, PlannedStep } from './plan.js'

/**
 * Makes the execution graph of an intent (semantics.md K11, K4). A manifest asks for an earlier
 * step by an input that comes `from` another capability:
 *
 * ```
 * "inputs": { "amount": "text", "balance": { "from": "finance.balance" },
 *             "recipient": { "from": "contacts.validate", "with": { "recipient": "target" } } }
 * ```
 *
 * `with` names members of the intent's payload that the earlier step is given. An input that the
 * payload has already is not asked for again. Pure: the same packages, grants and intent give the
 * same plan. It names capabilities, not packages: each step is routed when it runs.
 */
export function planIntent(
  intent: Intent,
  options: {
    readonly registry: CapabilityRegistry
    readonly isGranted?: RouteQuery['isGranted']
    readonly preferred?: NonNullable<RouteQuery['preferred']>
  }
): PlannedIntent {
  const { registry, isGranted = () => true, preferred } = options
  const planner = new Planner((action) => {
    const query = { action, isGranted, ...(preferred === undefined ? {} : { preferred }) }
    const found = route(registry, query)
    if (found.kind === 'no_match') return undefined
    const one = registry.packages.get(found.provider.packageId)
    return one === undefined ? undefined : inputsOf(one.manifest, found.provider, action)
  })
  const problem = planner.add(intent, [])
  if (problem !== undefined) return problem
  return { ok: true, plan: { intent, steps: planner.steps } }
}

interface Wanted {
  readonly from: string
  /** Name of an input of that capability to name of a member of the payload. */
  readonly with: Readonly<Record<string, string>>
}

type Inputs = ReadonlyMap<string, Wanted>

/** Owns: the steps found so far, those that others rest on first. */
class Planner {
  readonly steps: PlannedStep[] = []
  readonly #ids = new Map<string, string>()
  readonly #inputsOf: (action: string) => Inputs | undefined

  constructor(inputs: (action: string) => Inputs | undefined) {
    this.#inputsOf = inputs
  }

  /** Adds what an intent depends on, and then the intent; or says why that cannot be. */
  add(
    intent: Pick<Intent, 'action' | 'payload'>,
    above: readonly string[]
  ): Extract<PlannedIntent, { ok: false }> | undefined {
    const { action, payload } = intent
    const canonical = canonicalActions.get(action) ?? action
    if (above.includes(canonical)) {
      const message = `${[...above, canonical].join(' needs ')}`
      return { ok: false, reason: 'cycle', message }
    }
    const dependsOn: string[] = []
    for (const [name, wanted] of this.#inputs(action)) {
      if (Object.hasOwn(payload, name)) continue
      const asked = { action: wanted.from, payload: given(wanted, payload) }
      const problem = this.add(asked, [...above, canonical])
      if (problem !== undefined) return problem
      const id = this.#ids.get(keyOf(asked))
      if (id !== undefined && !dependsOn.includes(id)) dependsOn.push(id)
    }
    return this.#put({ canonical, payload, dependsOn, key: keyOf(intent) })
  }

  #inputs(action: string): Inputs {
    return isSystemIntent(action) ? new Map() : (this.#inputsOf(action) ?? new Map())
  }

  #put(step: {
    readonly canonical: string
    readonly payload: JsonObject
    readonly dependsOn: readonly string[]
    readonly key: string
  }): Extract<PlannedIntent, { ok: false }> | undefined {
    const { canonical, payload, dependsOn, key } = step
    // Two that want the same thing share the step.
    if (this.#ids.has(key)) return undefined
    if (this.steps.length >= limits.PLANNED_STEPS_MAX) {
      const message = `it takes more than ${limits.PLANNED_STEPS_MAX} steps`
      return { ok: false, reason: 'too_many_steps', message }
    }
    const id = this.#freeId(canonical)
    this.#ids.set(key, id)
    this.steps.push({ id, canonical, args: payload, dependsOn })
    return undefined
  }

  #freeId(canonical: string): string {
    const word = canonical.slice(canonical.lastIndexOf('.') + 1)
    const taken = new Set(this.steps.map(({ id }) => id))
    for (let count = 1; ; count += 1) {
      const id = count === 1 ? word : `${word}_${count}`
      if (!taken.has(id)) return id
    }
  }
}

function keyOf({ action, payload }: Pick<Intent, 'action' | 'payload'>): string {
  return canonicalize([canonicalActions.get(action) ?? action, payload])
}

function given(wanted: Wanted, payload: JsonObject): JsonObject {
  const members = Object.entries(wanted.with).flatMap(([input, member]) => {
    const value = Object.hasOwn(payload, member) ? payload[member] : undefined
    return value === undefined ? [] : [[input, value] as const]
  })
  return Object.fromEntries(members)
}

/** Inputs of the offer under which a provider serves an action that come from other steps. */
function inputsOf(manifest: Manifest, provider: CapabilityProvider, action: string): Inputs {
  const canonical = canonicalActions.get(action) ?? action
  const offers: readonly { readonly names: readonly string[]; readonly inputs?: Json }[] = [
    ...manifest.capabilitySchemas.map(({ id, canonical: name, input }) => ({
      names: [id, name],
      ...(input === undefined ? {} : { inputs: input })
    })),
    ...manifest.capabilities.flatMap(({ name, canonical: offered, inputs }) =>
      offered === undefined
        ? []
        : [{ names: [name, offered], ...(inputs === undefined ? {} : { inputs }) }]
    )
  ]
  const offer = offers.find(({ names }) => names.includes(canonical))
  const inputs = (offer ?? offers.find(({ names }) => names.includes(provider.action)))?.inputs
  const found = new Map<string, Wanted>()
  for (const [name, input] of Object.entries(isJsonObject(inputs) ? inputs : {})) {
    const wanted = wantedOf(input)
    if (wanted !== undefined) found.set(name, wanted)
  }
  return found
}

function wantedOf(input: unknown): Wanted | undefined {
  if (!isJsonObject(input)) return undefined
  const { from, with: members } = input
  if (typeof from !== 'string' || isSystemIntent(from)) return undefined
  const names = Object.entries(isJsonObject(members) ? members : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string'
  )
  return { from, with: Object.fromEntries(names) }
}
