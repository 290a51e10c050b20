import * as crypto from 'node:crypto'
import { type PublicKey, TallyError } from '../core/index.js'
import { privateKeyObject, publicKeyOf } from './keys.js'
import type { Signer, SigningDesk } from './signer.js'
import { ThreadedDesk } from './threaded-desk.js'

/** A signer of this process: `sign` answers at once, its desks work beside the main thread. */
export interface LocalSigner extends Signer {
  openDesk(): SigningDesk
  sign(message: Uint8Array): Uint8Array
  close(): Promise<void>
}

/**
 * Makes a signer of a 32-byte seed; throws `identity.malformed_seed`. A desk's thread starts when
 * it has enough to do, and keeps no process alive. After `close` it refuses with
 * `identity.signer_closed`. The seed is copied into a KeyObject and never shown by inspection.
 */
export function localSigner(seed: Uint8Array): LocalSigner {
  return new KeyObjectSigner(privateKeyObject(seed))
}

class KeyObjectSigner implements LocalSigner {
  readonly publicKey: PublicKey
  readonly #key: crypto.KeyObject
  readonly #desks = new Set<SigningDesk>()
  #closed = false

  constructor(key: crypto.KeyObject) {
    this.#key = key
    this.publicKey = publicKeyOf(key)
  }

  openDesk(): SigningDesk {
    const onClose = () => this.#desks.delete(desk)
    const desk = new ThreadedDesk(this.#key, { sign: (hash) => this.sign(hash), onClose })
    this.#desks.add(desk)
    return desk
  }

  sign(message: Uint8Array): Uint8Array {
    if (this.#closed) {
      throw new TallyError('identity.signer_closed', { publicKey: this.publicKey })
    }
    return crypto.sign(null, message, this.#key)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#desks].map((desk) => desk.close()))
  }
}
