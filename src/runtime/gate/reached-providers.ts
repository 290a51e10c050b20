import { type CapabilityProvider, stateOf } from '../../capability/index.js'
import type { Block } from '../../code/index.js'
import { isJsonObject, type Json } from '../../core/index.js'
import { isSystemIntent } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Compiled } from '../code/prepared-run.js'
import type { ReachedCode, ReachedIntent } from '../code/reached-code.js'
import type { Registry } from '../code/registry.js'

/** Who does what a run can come to. */
export interface ReachedProviders {
  readonly blocks: readonly Block[]
  readonly packages: readonly CapabilityProvider[]
  /** Capabilities of the code of turns that documents choose. */
  readonly ofTurns: readonly string[]
}

/**
 * All code that a run can come to, as far as its definition and its input tell; who does an intent
 * is chosen by the state as it is now. What the kernel does by itself is not among them.
 */
export function reachedProviders(
  prepared: Compiled,
  inputs: Json,
  { registry, ledger }: { readonly registry: Registry; readonly ledger: Pick<Ledger, 'read'> }
): ReachedProviders {
  const { blocks, intents, ofTurns }: Omit<ReachedCode, 'computesIntents'> =
    'reached' in prepared
      ? prepared.reached()
      : { blocks: [], intents: [intentIn(inputs)], ofTurns: [] }
  const state = stateOf(ledger)
  const chosen = intents.flatMap((intent) => {
    const choice = isSystemIntent(intent.action) ? undefined : registry.choose(intent, state)
    return choice === undefined ? [] : [choice]
  })
  return {
    blocks: [...blocks, ...chosen.flatMap((one) => (one.kind === 'block' ? [one.block] : []))],
    packages: chosen.flatMap((one) => (one.kind === 'package' ? [one.provider] : [])),
    ofTurns
  }
}

/** `name@version` of all of them, as receipts name who has done something. */
export function providerIds({ blocks, packages }: ReachedProviders): ReadonlySet<string> {
  return new Set([
    ...blocks.map(({ name, version }) => `${name}@${version}`),
    ...packages.map(({ packageId, version }) => `${packageId}@${version}`)
  ])
}

function intentIn(inputs: Json): ReachedIntent {
  const { action, provider } = isJsonObject(inputs) ? inputs : {}
  return {
    action: String(action ?? ''),
    ...(typeof provider === 'string' ? { provider } : {})
  }
}
