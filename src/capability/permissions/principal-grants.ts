import type { Hash, IdentityId } from '../../core/index.js'
import { principalGrantKey } from './keys.js'
import type { Principal } from './principal.js'
import type { StatePort, StateReader } from './state.js'

/**
 * What principals other than the owner may have done (semantics.md K14): each grant lets one
 * principal use one capability of one code. Denied unless the state holds this very grant.
 */

/** One code as one principal may use it. */
export interface PrincipalCode {
  readonly identity: IdentityId
  readonly principal: Principal
  readonly codeHash: Hash
}

/** Capability of the kernel's code: to read what others have run. */
export const LEDGER_READ = 'ledger.read'

/**
 * Effects of the tools of agents begin so. A document says which tools a turn has, so that each is
 * a capability of the code of turns.
 */
export const AGENT_TOOL_EFFECTS = 'agent.tool.'
/** The kinds of adapters that do turns, too: a document says which does them. */
export const AGENT_ADAPTERS = 'agent.adapter.'
/** Name of the block that does an agent's turns. */
export const AGENT_TURN_BLOCK = 'agent.turn'

/**
 * Capabilities of a code that a principal lacks, in the given order: the owner none, and a caller
 * that is no principal all of them.
 */
export function principalLacks(
  state: StateReader,
  used: Omit<PrincipalCode, 'principal'> & {
    readonly principal: Principal | undefined
    readonly capabilities: readonly string[]
  }
): readonly string[] {
  const { principal, capabilities } = used
  if (principal?.kind === 'owner') return []
  if (principal === undefined) return capabilities
  return capabilities.filter((capability) => {
    const key = principalGrantKey({ ...used, principal, capability })
    return key === undefined || state.get(key) === undefined
  })
}

export interface PrincipalGrantChange extends PrincipalCode {
  readonly capabilities: readonly string[]
  /** Only the owner grants. */
  readonly by: Principal
  /** Integer seconds. */
  readonly at: number
  /** Name of the code, for lists. */
  readonly subject: string
}

/** What became of it; a capability whose key would be too long is refused. */
export type PrincipalGrantOutcome =
  | { readonly ok: true; readonly changed: readonly string[] }
  | { readonly ok: false; readonly code: 'not_permitted' | 'invalid_subject'; message: string }

/** Grants capabilities of one code to one principal; those granted already keep their entry. */
export function grantToPrincipal(
  state: StatePort,
  change: PrincipalGrantChange
): PrincipalGrantOutcome {
  const refused = refusalOf(change)
  if (refused !== undefined) return refused
  const { by, at, subject } = change
  const changed = [...principalLacks(state, change)].sort()
  for (const capability of changed) {
    const key = principalGrantKey({ ...change, capability })
    if (key !== undefined) state.set(key, { at, by: { id: by.id, kind: by.kind }, subject })
  }
  return { ok: true, changed }
}

/** Takes grants of a principal back; the entries are gone. */
export function revokeFromPrincipal(
  state: StatePort,
  change: Omit<PrincipalGrantChange, 'subject' | 'at'>
): PrincipalGrantOutcome {
  const refused = refusalOf(change)
  if (refused !== undefined) return refused
  const lacked = principalLacks(state, change)
  const changed = change.capabilities.filter((one) => !lacked.includes(one)).sort()
  for (const capability of changed) {
    const key = principalGrantKey({ ...change, capability })
    if (key !== undefined) state.delete(key)
  }
  return { ok: true, changed }
}

function refusalOf(
  change: Pick<PrincipalGrantChange, keyof PrincipalCode | 'by' | 'capabilities'>
): PrincipalGrantOutcome | undefined {
  const { by, principal, capabilities } = change
  if (by.kind !== 'owner') {
    const message = `what a principal may use is granted by the owner, not by a "${by.kind}"`
    return { ok: false, code: 'not_permitted', message }
  }
  const isNamed = capabilities.every((one) => principalGrantKey({ ...change, capability: one }))
  if (principal.kind !== 'owner' && isNamed) return undefined
  return { ok: false, code: 'invalid_subject', message: 'no grant can have this principal' }
}
