import {
  type Hash,
  type IdentityId,
  isSignature,
  type PublicKey,
  type Signature
} from '../core/index.js'
import { isStrictPublicKey, publicKeyBytes } from './public-key.js'
import type { Signer } from './signer.js'
import { verify } from './verify.js'

/** Where in a chain a rotation stands; a proof holds only there. */
export interface RotationPosition {
  readonly identity: IdentityId
  /** Hash of the receipt before the rotation receipt; null when that one is the first. */
  readonly previousReceiptHash: Hash | null
}

/** Payload of a rotation receipt, which the old key signs (formats.md §2). */
export interface Rotation {
  readonly newPublicKey: PublicKey
  /** The new key's signature over {@link rotationMessage}: its holder agrees to take over. */
  readonly proof: Signature
}

const DOMAIN = 'tallystick/rotate'
const NO_RECEIPT = '0'.repeat(64)

/**
 * The 113 bytes a new key signs: the 17 ASCII bytes `tallystick/rotate`, then 32 raw bytes each of
 * identity, previous receipt hash (32 zero bytes when there is none) and new public key. Receipts
 * and attestations sign 32 bytes, so neither can be taken for the other.
 */
export function rotationMessage(
  { identity, previousReceiptHash }: RotationPosition,
  newPublicKey: PublicKey
): Uint8Array {
  return Buffer.concat([
    Buffer.from(DOMAIN, 'ascii'),
    Buffer.from(identity + (previousReceiptHash ?? NO_RECEIPT) + newPublicKey, 'hex')
  ])
}

/** Lets the new key agree to a rotation at this place of the chain. */
export async function makeRotationProof(
  place: RotationPosition,
  newSigner: Signer
): Promise<Rotation> {
  const newPublicKey = newSigner.publicKey
  const proof = await newSigner.sign(rotationMessage(place, newPublicKey))
  return { newPublicKey, proof: Buffer.from(proof).toString('hex') as Signature }
}

/** Whether the new key is usable and agreed to take over at this place of the chain. */
export function checkRotationProof(place: RotationPosition, rotation: Rotation): boolean {
  const { newPublicKey, proof } = rotation
  if (!isStrictPublicKey(newPublicKey) || !isSignature(proof)) return false
  const message = rotationMessage(place, newPublicKey)
  return verify(Buffer.from(proof, 'hex'), message, publicKeyBytes(newPublicKey))
}
