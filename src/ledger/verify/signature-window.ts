import type { PublicKey, Signature } from '../../core/index.js'
import { publicKeyBytes, type SignedBytes, verifyMany } from '../../identity/index.js'

const BATCH = 128

/**
 * Checks signatures in the thread pool while the caller goes on: at most two batches are open, so
 * that memory stays flat and a bad signature is found soon.
 */
export class SignatureWindow<Place> {
  #batch: { readonly place: Place; readonly signed: SignedBytes }[] = []
  #open: Promise<Place | undefined> = Promise.resolve(undefined)
  #checked = 0
  readonly #keys = new Map<PublicKey, Uint8Array>()

  get checked(): number {
    return this.#checked
  }

  /** Adds a signature; gives the place of the first bad one as soon as it is known. */
  add(
    place: Place,
    signed: { readonly signature: Signature; readonly hash: string; readonly publicKey: PublicKey }
  ): Promise<Place | undefined> | undefined {
    this.#batch.push({
      place,
      signed: {
        signature: Buffer.from(signed.signature, 'hex'),
        message: Buffer.from(signed.hash, 'hex'),
        publicKey: this.#key(signed.publicKey)
      }
    })
    return this.#batch.length >= BATCH ? this.#turn() : undefined
  }

  /** The place of the first bad signature among all that were added. */
  async finish(): Promise<Place | undefined> {
    return (await this.#turn()) ?? (await this.#open)
  }

  /** Starts the collected batch and waits for the one before it. */
  async #turn(): Promise<Place | undefined> {
    const before = this.#open
    const batch = this.#batch
    this.#batch = []
    const current = check(batch)
    this.#open = before.then(async (bad) => bad ?? (await current))
    this.#checked += batch.length
    return before
  }

  #key(publicKey: PublicKey): Uint8Array {
    let bytes = this.#keys.get(publicKey)
    if (bytes === undefined) {
      bytes = publicKeyBytes(publicKey)
      this.#keys.set(publicKey, bytes)
    }
    return bytes
  }
}

async function check<Place>(
  batch: readonly { readonly place: Place; readonly signed: SignedBytes }[]
): Promise<Place | undefined> {
  const verdicts = await verifyMany(batch.map(({ signed }) => signed))
  return batch[verdicts.indexOf(false)]?.place
}
