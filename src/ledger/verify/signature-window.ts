import { limits, type PublicKey, type Signature } from '../../core/index.js'
import {
  publicKeyBytes,
  type SignedBytes,
  VerifyingThreads,
  verifyMany
} from '../../identity/index.js'

const BATCH = 16

/** Batches that are open at once: the pool never runs dry while the caller parses. */
const OPEN_BATCHES = 16

/**
 * Checks signatures in threads while the caller continues, but for a last few: a bounded number of
 * batches is open, so that memory stays flat and a bad signature is found soon.
 *
 * Owns: threads, for signatures that are many; `close` ends them.
 */
export class SignatureWindow<Place> {
  #batch: Placed<Place>[] = []
  readonly #open: Promise<Place | undefined>[] = []
  #checked = 0
  readonly #keys = new Map<PublicKey, Uint8Array>()
  readonly #threads = new VerifyingThreads()

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
    const isLong = this.#checked >= limits.VERIFY_BEFORE_THREADS
    if (this.#batch.length < (isLong ? limits.VERIFY_THREAD_BATCH : BATCH)) return undefined
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

  /** Ends its threads, if there are any. */
  async close(): Promise<void> {
    await this.#threads.close()
  }

  #start(): void {
    if (this.#batch.length === 0) return
    this.#open.push(this.#check(this.#batch))
    this.#checked += this.#batch.length
    this.#batch = []
  }

  async #check(batch: readonly Placed<Place>[]): Promise<Place | undefined> {
    const items = batch.map(({ signed }) => signed)
    const verdicts =
      this.#checked < limits.VERIFY_BEFORE_THREADS
        ? await verifyMany(items)
        : await this.#threads.check(items)
    return batch[verdicts.indexOf(false)]?.place
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

interface Placed<Place> {
  readonly place: Place
  readonly signed: SignedBytes
}
