import { Point } from '@noble/ed25519'
import { isPublicKey, type PublicKey } from '../core/index.js'
import { bytesFromHex, isStrictPoint } from './encoding.js'

/**
 * Whether a key may stand for an identity: 64 hex digits, canonical, on the curve, not of small
 * order. Checked when a key enters (init, rotation, approver), so that no later signature is void.
 */
export function isStrictPublicKey(publicKey: unknown): publicKey is PublicKey {
  if (!isPublicKey(publicKey)) return false
  const bytes = bytesFromHex(publicKey)
  if (!isStrictPoint(bytes)) return false
  try {
    Point.fromBytes(bytes)
    return true
  } catch {
    return false
  }
}

/** The 32 raw bytes of a public key. */
export function publicKeyBytes(publicKey: PublicKey): Uint8Array {
  return bytesFromHex(publicKey)
}

/** Whether 32 bytes are a point of the curve, also one that is not written as keys are. */
export function isOnCurve(bytes: Uint8Array): boolean {
  try {
    Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}
