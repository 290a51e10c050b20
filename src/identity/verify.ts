import * as crypto from 'node:crypto'
import { limits } from '../core/index.js'
import { isStrictKey, isStrictSignature } from './encoding.js'

/**
 * The strict rule by node:crypto plus byte checks (formats.md §2). OpenSSL's equation has no
 * cofactor; what its versions disagree on (small order, non-canonical keys) is refused before.
 */

/** A signature with what it signs and by whom: 64 bytes, any bytes, 32 bytes. */
export interface SignedBytes {
  readonly signature: Uint8Array
  readonly message: Uint8Array
  readonly publicKey: Uint8Array
}

/** Whether the signature is valid under the strict rule; never throws for bad bytes. */
export function verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (!isStrictSignature(signature)) return false
  try {
    const key = decoded(publicKey)
    return key !== undefined && crypto.verify(null, message, key, signature)
  } catch {
    return false
  }
}

/**
 * Checks many signatures in the thread pool, at most 64 in flight: 1.6 times the throughput of
 * {@link verify} on two cores, and the event loop stays free. A few are checked here and now: the
 * way to the pool and back costs half of what a check does. One verdict each, in order.
 */
export function verifyMany(items: readonly SignedBytes[]): Promise<readonly boolean[]> {
  if (items.length <= limits.VERIFY_AT_ONCE_MAX) {
    return Promise.resolve(
      items.map(({ signature, message, publicKey }) => verify(signature, message, publicKey))
    )
  }
  const verdicts: boolean[] = new Array<boolean>(items.length).fill(false)
  return new Promise((resolve) => {
    let [next, left] = [0, items.length]
    const take = (): void => {
      const index = next++
      const item = items[index]
      if (item === undefined) return
      verifyInPool(item, (isValid) => {
        verdicts[index] = isValid
        left -= 1
        if (left === 0) resolve(verdicts)
        else take()
      })
    }
    for (let lane = 0; lane < limits.VERIFY_IN_FLIGHT_MAX; lane += 1) take()
  })
}

function verifyInPool(
  { signature, message, publicKey }: SignedBytes,
  done: (isValid: boolean) => void
): void {
  try {
    const key = isStrictSignature(signature) ? decoded(publicKey) : undefined
    if (key !== undefined) {
      crypto.verify(null, message, key, signature, (error, valid) => done(error === null && valid))
      return
    }
  } catch {
    // A key that is on no curve verifies nothing.
  }
  // Later, as for those of the pool: a chain of bad ones would be as deep as it is long.
  Promise.resolve(false).then(done)
}

// A memo of a pure function, not state: a chain has one key, or a few after rotations.
const decodedKeys = new Map<string, crypto.KeyObject>()

/** The key for node:crypto; undefined for one that the strict rule refuses. */
function decoded(publicKey: Uint8Array): crypto.KeyObject | undefined {
  if (!isStrictKey(publicKey)) return undefined
  const x = Buffer.from(publicKey.buffer, publicKey.byteOffset, 32).toString('base64url')
  const known = decodedKeys.get(x)
  if (known !== undefined) return known
  const key = crypto.createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  if (decodedKeys.size >= limits.CACHE_ENTRIES_MAX) decodedKeys.clear()
  decodedKeys.set(x, key)
  return key
}
