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
