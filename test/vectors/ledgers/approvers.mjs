import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'

/**
 * Approvers of the golden ledgers, who sign as docs/spec/waits.md says and with no code of
 * production.
 */

const PKCS8 = '302e020100300506032b657004220420'

function approverOf(byte) {
  const der = Buffer.concat([Buffer.from(PKCS8, 'hex'), Buffer.alloc(32, byte)])
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(secret).export({ format: 'jwk' })
  return { secret, key: Buffer.from(x, 'base64url').toString('hex') }
}

const all = [11, 12, 13].map(approverOf)

/** Two of three. */
export const twoOfThree = { threshold: 2, keys: all.map(({ key }) => key) }

/** All of them. */
export const threeOfThree = { ...twoOfThree, threshold: 3 }

/** The signature of the first approver who has not signed a wait; also of one that needs none. */
export function nextSignature({ approvals = [], digest, token }, { action, value = null }) {
  const next = all.find(({ key }) => approvals.every((given) => given.key !== key))
  const { key, secret } = next
  // The value of a golden answer is written in one way.
  const answer = JSON.stringify({ action, digest, key, token, value })
  const hash = createHash('sha256').update(answer).digest()
  const message = Buffer.concat([Buffer.from('tallystick/approval/2'), hash])
  return { key, signature: sign(null, message, secret).toString('hex') }
}
