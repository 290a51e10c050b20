import {
  type IdentityId,
  identityError,
  isTallyError,
  type PublicKey,
  type Random
} from '../../core/index.js'
import {
  IdentityKeys,
  isStrictPublicKey,
  type KeyFiles,
  newKeyFor,
  type Signer,
  type SigningKeys
} from '../../identity/index.js'

/** What a program signs with instead of a key file. */
export interface OutsideSigner {
  /** Holds the private key; the program closes it, after the runtime. */
  readonly signer: Signer
  /**
   * 32 secret bytes, the same for the whole life of the identity: salts of private bodies and the
   * codes of journals are derived from them.
   */
  readonly blobKey: Uint8Array
}

/** Throws `identity.invalid_signer`. `identity` is undefined where one is to be made. */
export function outsideKeys(
  { signer, blobKey }: OutsideSigner,
  identity: IdentityId | undefined
): SigningKeys {
  const { publicKey, signMany, joinPool } = signer
  const invalid = (problem: string) => identityError('identity.invalid_signer', { problem })
  if (!isStrictPublicKey(publicKey)) throw invalid('its public key is none of the strict rule')
  if (blobKey.length !== BLOB_KEY_BYTES) throw invalid(`its blob key has ${blobKey.length} bytes`)
  // Closing a ledger leaves it open: other ledgers may sign with it.
  const shared: Signer = {
    publicKey,
    sign: (message) => signer.sign(message),
    ...(signMany === undefined ? {} : { signMany: signMany.bind(signer) }),
    ...(joinPool === undefined ? {} : { joinPool: joinPool.bind(signer) })
  }
  return {
    // The id of an identity is its first public key.
    identity: identity ?? (publicKey as string as IdentityId),
    publicKey,
    blobKey: Uint8Array.from(blobKey),
    signer: () => shared
  }
}

const BLOB_KEY_BYTES = 32

/**
 * The keys with which a process holds a ledger.
 *
 * Owns: the key in use, and signers, which it closes. Does not own: which key is in force; the
 * ledger says so.
 */
export class OwnKeys {
  #keys: SigningKeys
  /** Absent where keys are in no file: in memory, or handed over by the program. */
  readonly #files: KeyFiles | undefined
  readonly #isKept: boolean
  readonly #signers: Signer[] = []

  constructor(options: {
    readonly keys: SigningKeys
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

  get keys(): SigningKeys {
    return this.#keys
  }

  /** A signer of the key in use. */
  signer(): Signer {
    return this.signerOf(this.#keys)
  }

  /** A signer of a prepared key. */
  signerOf(keys: SigningKeys): Signer {
    const signer = keys.signer()
    this.#signers.push(signer)
    return signer
  }

  /** Makes the next key, durably; undefined where there is nowhere to keep it. */
  async prepare(random: Random): Promise<IdentityKeys | undefined> {
    const keys = this.#keys
    if (!this.#isKept || !(keys instanceof IdentityKeys)) return undefined
    return this.#files?.prepare(keys, random) ?? newKeyFor(keys, random)
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
   * that no receipt names it. To be called while nothing else makes a key of this identity.
   */
  async clearUp(isKnown: (publicKey: PublicKey) => boolean): Promise<void> {
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
    for (const signer of this.#signers.splice(0)) await signer.close?.()
  }
}
