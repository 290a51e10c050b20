import { generateIdentity, type IdentityKeys, type LocalSigner } from '../../identity/index.js'
import { fixedRandom } from '../machine/machine.js'

/** An identity with its key decoded. */
export interface NodeKeys {
  readonly keys: IdentityKeys
  readonly signer: LocalSigner
}

const known = new Map<number, NodeKeys>()
const FIRST_BYTE = 11

/** Keys of the node at a place: the same in every simulation, so that receipts are the same. */
export function keysOf(place: number): NodeKeys {
  const before = known.get(place)
  if (before !== undefined) return before
  const bytes = (length: number) => {
    const made = Buffer.alloc(length, FIRST_BYTE)
    made.writeUInt32BE(place, 0)
    return made
  }
  const keys = generateIdentity({ ...fixedRandom, bytes })
  const made = { keys, signer: keys.signer() }
  known.set(place, made)
  return made
}
