import { isTallyError, type PublicKey, type Random } from '../../core/index.js'
import {
  type IdentityKeys,
  type KeyFiles,
  type LocalSigner,
  newKeyFor
} from '../../identity/index.js'

/**
 * The keys with which a process holds a ledger.
 *
 * Owns: the key in use, and signers, which it closes. Does not own: which key is in force; the
 * ledger says so.
 */
export class OwnKeys {
  #keys: IdentityKeys
  /** Absent where keys are in no file: in memory, or handed over by the program. */
  readonly #files: KeyFiles | undefined
  readonly #isKept: boolean
  readonly #signers: LocalSigner[] = []

  constructor(options: {
    readonly keys: IdentityKeys
    readonly files?: KeyFiles
    /**
     * Whether a next key has somewhere to be kept: a file, or a memory that ends with the ledger.
     */
    readonly isKept: boolean
  }) {
    this.#keys = options.keys
    this.#files = options.files
    this.#isKept = options.isKept
  }

  get keys(): IdentityKeys {
    return this.#keys
  }

  /** A signer of the key in use. */
  signer(): LocalSigner {
    return this.signerOf(this.#keys)
  }

  /** A signer of a prepared key. */
  signerOf(keys: IdentityKeys): LocalSigner {
    const signer = keys.signer()
    this.#signers.push(signer)
    return signer
  }

  /** Makes the next key, durably; undefined where there is nowhere to keep it. */
  async prepare(random: Random): Promise<IdentityKeys | undefined> {
    if (!this.#isKept) return undefined
    return this.#files?.prepare(this.#keys, random) ?? newKeyFor(this.#keys, random)
  }

  /** The files in which another identity can be made; undefined where keys are in no file. */
  get files(): KeyFiles | undefined {
    return this.#files
  }

  /** Goes over to a prepared key, which a durable receipt has put into force. */
  async use(next: IdentityKeys): Promise<void> {
    this.#keys = next
    await this.#files?.use(next.publicKey)
  }

  /**
   * Goes over to the key that the ledger says is in force; false when there is no file of it. A
   * process that has died while it rotated the key leaves that to the next one.
   */
  async adopt(publicKey: PublicKey): Promise<boolean> {
    if (this.#files === undefined) return false
    try {
      this.#keys = await this.#files.load(publicKey)
      await this.#files.use(publicKey)
      return true
    } catch (error) {
      if (isTallyError(error, 'identity.key_file_missing')) return false
      throw error
    }
  }

  /**
   * Clears up what a killed rotation has left: a key that was prepared, and of which `isKnown` says
   * that no receipt names it. To be called while nothing else makes keys at the location.
   */
  async clearUp(isKnown: (publicKey: PublicKey) => boolean): Promise<void> {
    await this.#files?.removeTemporary()
    for (const publicKey of (await this.#files?.prepared()) ?? []) {
      if (!isKnown(publicKey)) await this.destroy(publicKey)
    }
  }

  /** Removes a key that is not in use; false when there is no file of it. */
  async destroy(publicKey: PublicKey): Promise<boolean> {
    if (publicKey === this.#keys.publicKey) return false
    return (await this.#files?.destroy(publicKey)) ?? false
  }

  async close(): Promise<void> {
    for (const signer of this.#signers.splice(0)) await signer.close()
  }
}
