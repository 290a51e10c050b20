import { type Hash, type IdentityId, isJsonObject, type PublicKey } from '../../core/index.js'
import { checkRotationProof } from '../../identity/index.js'
import type { Receipt } from '../receipt/receipt.js'
import { ROTATION_ACTION } from './chain-head.js'

/** The key that a receipt hands the identity over to; undefined when its proof does not hold. */
export function rotatedKey(identity: IdentityId, receipt: Receipt): PublicKey | undefined {
  const payload = receipt.inputPayload.payload
  if (!isJsonObject(payload)) return undefined
  const { newPublicKey, proof } = payload
  if (typeof newPublicKey !== 'string' || typeof proof !== 'string') return undefined
  const place = { identity, previousReceiptHash: receipt.previousReceiptHash as Hash | null }
  const rotation = {
    newPublicKey: newPublicKey as PublicKey,
    proof: proof as Parameters<typeof checkRotationProof>[1]['proof']
  }
  return checkRotationProof(place, rotation) ? rotation.newPublicKey : undefined
}

export function isRotation(receipt: Receipt): boolean {
  return receipt.intent === ROTATION_ACTION
}
