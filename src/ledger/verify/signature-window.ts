import type { PublicKey, Signature } from '../../core/index.js'
import { publicKeyBytes, type SignedBytes, verifyMany } from '../../identity/index.js'

const BATCH = 16

/** Batches that are open at once: the pool never runs dry while the caller parses. */
const OPEN_BATCHES = 16

/**
 * Checks signatures in the thread pool while the caller continues, but for a last few: a bounded
 * number of batches is open, so that memory stays flat and a bad signature is found soon.
 */
export class SignatureWindow<Place> {
  #batch: { readonly place: Place; readonly signed: SignedBytes }[] = []
  readonly #open: Promise<Place | undefined>[] = []
  #checked = 0
  readonly #keys = new Map<PublicKey, Uint8Array>()

  get checked(): number {
    return this.#checked
  }

  /** Adds a signature; gives the place of the first bad one of a batch that must be waited for. */
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
    if (this.#batch.length < BATCH) return undefined
    this.#start()
    return this.#open.length > OPEN_BATCHES ? this.#open.shift() : undefined
  }

  /** The place of the first bad signature among all that were not waited for. */
  async finish(): Promise<Place | undefined> {
    this.#start()
    for (const open of this.#open.splice(0)) {
      const bad = await open
      if (bad !== undefined) return bad
    }
    return undefined
  }

  #start(): void {
    this.#open.push(check(this.#batch))
    this.#checked += this.#batch.length
    this.#batch = []
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
