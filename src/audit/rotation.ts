import { differing, type Finding, firstOf } from '../block/index.js'
import { canonicalize, isJsonObject, type PublicKey } from '../core/index.js'
import { KERNEL_ID, keyRotation } from '../intent/index.js'
import { ROTATION_ACTION, type VerifiedReceipt } from '../ledger/index.js'

/** Whether a receipt hands the identity over to another key: that is the end of no run. */
export function isRotation({ receipt }: VerifiedReceipt): boolean {
  return receipt.intent === ROTATION_ACTION && receipt.inputPayload.run === undefined
}

/**
 * Whether a rotation gave and wrote what a rotation does, and nothing else. That the new key agreed
 * at this place of the chain, and signs from here on, the ledger room has checked.
 */
export function rotationFinding(verified: VerifiedReceipt): Finding | undefined {
  const { receipt, changes, resultText } = verified
  const { payload, principal, sealed } = receipt.inputPayload
  const { newPublicKey = '' } = isJsonObject(payload) ? payload : {}
  const { publicKey, timestamp: at } = receipt
  const again = keyRotation({
    publicKey,
    newPublicKey: newPublicKey as PublicKey,
    at,
    principal
  })
  return firstOf(
    differing('dappId', KERNEL_ID, receipt.dappId),
    differing('inputPayload.sealed', [], sealed),
    resultText === undefined
      ? undefined
      : differing('resultHash', again.resultText, canonicalize(JSON.parse(resultText))),
    differing(
      'writeSet',
      [...again.writes],
      changes.map(({ key, text }) => [key, text ?? 'absent'])
    )
  )
}
