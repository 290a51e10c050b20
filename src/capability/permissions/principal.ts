import { isJsonObject, type Json } from '../../core/index.js'
import { approverKey } from './keys.js'
import type { StateReader } from './state.js'

/**
 * Who sends a message (semantics.md K13). Set by the entry point that took the message in, never by
 * its payload.
 */
export interface Principal {
  readonly kind: 'owner' | 'agent' | 'peer' | 'package'
  /** Identity id of the owner, public key of a peer, package id, or name of an agent. */
  readonly id: string
}

/**
 * Whether a principal may change permissions and answer waits: the owner, and peers whose key the
 * state names as an approver. Packages and agents never, whatever the state says.
 */
export function mayAdminister(state: StateReader, principal: Principal): boolean {
  if (principal.kind === 'owner') return true
  return principal.kind === 'peer' && state.get(approverKey(principal.id)) !== undefined
}

/** Whether a principal is the owner, whom no grant binds. */
export function isOwner(value: Json): boolean {
  return isJsonObject(value) && value['kind'] === 'owner'
}

/** The principal in a message or a journal entry; undefined for what names none. */
export function principalIn(value: Json | undefined): Principal | undefined {
  if (!isJsonObject(value)) return undefined
  const { kind, id } = value
  if (typeof id !== 'string') return undefined
  if (kind === 'owner' || kind === 'agent' || kind === 'peer' || kind === 'package') {
    return { kind, id }
  }
  return undefined
}

/** Whether both name one principal, by kind and id alone; values that name none do not. */
export function isSamePrincipal(one: Json, other: Json): boolean {
  const [first, second] = [principalIn(one), principalIn(other)]
  if (first === undefined || second === undefined) return false
  return first.kind === second.kind && first.id === second.id
}
