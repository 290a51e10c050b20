import * as crypto from 'node:crypto'
import { type PublicKey, TallyError } from '../core/index.js'
import { privateKeyObject, publicKeyOf } from './keys.js'
import type { Signer } from './signer.js'
import { SigningThread } from './signing-thread.js'

/** A signer of this process: `sign` answers at once, `signMany` works beside the main thread. */
export interface LocalSigner extends Signer {
  sign(message: Uint8Array): Uint8Array
  signMany(hashes: Uint8Array): Promise<Uint8Array>
  close(): Promise<void>
}

/**
 * Makes a signer of a 32-byte seed; throws `identity.malformed_seed`. Its thread starts with the
 * first `signMany` and does not keep the process alive while idle. After `close` both refuse with
 * `identity.signer_closed`. The seed is copied into a KeyObject and never shown by inspection.
 */
export function localSigner(seed: Uint8Array): LocalSigner {
  return new KeyObjectSigner(privateKeyObject(seed))
}

class KeyObjectSigner implements LocalSigner {
  readonly publicKey: PublicKey
  readonly #key: crypto.KeyObject
  readonly #thread: SigningThread
  #closed = false

  constructor(key: crypto.KeyObject) {
    this.#key = key
    this.publicKey = publicKeyOf(key)
    this.#thread = new SigningThread(key, this.publicKey)
  }

  sign(message: Uint8Array): Uint8Array {
    if (this.#closed) {
      throw new TallyError('identity.signer_closed', { publicKey: this.publicKey })
    }
    return crypto.sign(null, message, this.#key)
  }

  async signMany(hashes: Uint8Array): Promise<Uint8Array> {
    if (hashes.length % 32 !== 0) {
      throw new TallyError('identity.malformed_hashes', { actual: hashes.length })
    }
    return this.#thread.sign(hashes)
  }

  close(): Promise<void> {
    this.#closed = true
    return this.#thread.close()
  }
}
