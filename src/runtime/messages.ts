import type { WaitMessage } from '../block/index.js'
import type { Json } from '../core/index.js'
import type { Answer } from './handle.js'

/** An answer as the run takes it, from the owner of the ledger. */
export function messageOf(
  token: string,
  { digest, by, value }: Answer,
  action: WaitMessage['action']
): WaitMessage {
  return { token, digest, action, by: ownerNamed(by), ...(value === undefined ? {} : { value }) }
}

/** The owner's principal; the name that a person gives is a claim (K13). */
export function ownerNamed(by?: string): Json {
  return { kind: 'owner', id: 'local', ...(by === undefined ? {} : { claimed: by }) }
}
