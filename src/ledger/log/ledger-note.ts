import type { Hash, IdentityId } from '../../core/index.js'
import { publicKeyBytes, type Signer } from '../../identity/index.js'
import type { LogFrontier } from './frontier.js'
import { noteOrigin, signLogNote } from './log-note.js'

/** A note of a ledger about its log and its state, signed with the key in force. */
export function signedNoteOf(
  identity: IdentityId,
  signer: Signer,
  { frontier, stateRoot }: { readonly frontier: LogFrontier; readonly stateRoot: Hash }
): Promise<string> {
  const origin = noteOrigin(identity)
  const note = { origin, size: frontier.size, root: frontier.root(), stateRoot }
  const publicKey = publicKeyBytes(signer.publicKey)
  return signLogNote({ note, publicKey, sign: (message) => signer.sign(message) })
}
