import * as crypto from 'node:crypto'
import { identityError, type PublicKey } from '../core/index.js'
import { privateKeyObject, publicKeyOf } from './keys.js'
import type { PoolMember, Signer } from './signer.js'
import { SigningPool } from './signing-pool.js'

/** A signer of this process: `sign` answers at once, the pool works beside the main thread. */
export interface LocalSigner extends Signer {
  joinPool(): PoolMember
  sign(message: Uint8Array): Uint8Array
  close(): Promise<void>
}

/** Of all signers of this process. */
const pool = new SigningPool()

/**
 * Makes a signer of a 32-byte seed; throws `identity.malformed_seed`. The thread of the pool starts
 * when it has enough to do, and keeps no process alive. After `close` the signer refuses with
 * `identity.signer_closed`, and neither it nor the thread has the key. The seed is copied into a
 * KeyObject and never shown by inspection.
 */
export function localSigner(seed: Uint8Array): LocalSigner {
  return new KeyObjectSigner(privateKeyObject(seed))
}

class KeyObjectSigner implements LocalSigner {
  readonly publicKey: PublicKey
  /** Until it is closed. */
  #key: crypto.KeyObject | undefined
  readonly #members = new Set<PoolMember>()

  constructor(key: crypto.KeyObject) {
    this.#key = key
    this.publicKey = publicKeyOf(key)
  }

  joinPool(): PoolMember {
    const member = pool.join(this.#openKey(), {
      sign: (hash) => this.sign(hash),
      onClose: () => this.#members.delete(member)
    })
    this.#members.add(member)
    return member
  }

  sign(message: Uint8Array): Uint8Array {
    return crypto.sign(null, message, this.#openKey())
  }

  async close(): Promise<void> {
    this.#key = undefined
    await Promise.all([...this.#members].map((member) => member.close()))
  }

  #openKey(): crypto.KeyObject {
    if (this.#key !== undefined) return this.#key
    throw identityError('identity.signer_closed', { publicKey: this.publicKey })
  }
}
