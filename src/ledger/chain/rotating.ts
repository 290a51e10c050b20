import { canonicalize, type Hash, type IdentityId, type PublicKey } from '../../core/index.js'
import { makeRotationProof, type Signer } from '../../identity/index.js'
import type { Appended, JournalItem } from '../item.js'

/** Appends the item of a rotation receipt, whose proof names the receipt before it. */
export async function rotateKey(options: {
  readonly identity: IdentityId
  /** Holder of the new key. */
  readonly signer: Signer
  readonly item: (payloadText: string) => JournalItem
  readonly head: () => Hash | null
  readonly append: (item: JournalItem, newKey: PublicKey) => Appended
}): Promise<Appended> {
  const { identity, signer, item, head, append } = options
  for (;;) {
    const previousReceiptHash = head()
    const rotation = await makeRotationProof({ identity, previousReceiptHash }, signer)
    // The proof names the head; another receipt may have come while it was signed.
    if (head() === previousReceiptHash)
      return append(item(canonicalize(rotation)), signer.publicKey)
  }
}
