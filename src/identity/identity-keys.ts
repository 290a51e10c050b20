import {
  coreError,
  type IdentityId,
  type PublicKey,
  type Random,
  systemRandom
} from '../core/index.js'
import { getPublicKey } from './keys.js'
import { type LocalSigner, localSigner } from './local-signer.js'

const SEED_BYTES = 32
const BLOB_KEY_BYTES = 32

/**
 * What an identity must keep secret: the seed of its key in force, and the key from which blob
 * salts are derived (formats.md §3). Printing or serialising it shows the public part only.
 */
export class IdentityKeys {
  /** Hex of the identity's first public key. */
  readonly identity: IdentityId
  /** The key in force; differs from `identity` after a rotation. */
  readonly publicKey: PublicKey
  readonly #seed: Uint8Array
  readonly #blobKey: Uint8Array

  /** Throws `identity.malformed_seed` unless the seed has 32 bytes. */
  constructor(secrets: {
    readonly seed: Uint8Array
    readonly blobKey: Uint8Array
    /** Absent for a new identity, whose id is its own public key. */
    readonly identity?: IdentityId
  }) {
    this.publicKey = getPublicKey(secrets.seed)
    this.identity = secrets.identity ?? (this.publicKey as string as IdentityId)
    this.#seed = Uint8Array.from(secrets.seed)
    if (secrets.blobKey.length !== BLOB_KEY_BYTES) {
      throw coreError('core.internal', { problem: 'a blob key must have 32 bytes' })
    }
    this.#blobKey = Uint8Array.from(secrets.blobKey)
  }

  /** The 32-byte Ed25519 seed, a copy. */
  get seed(): Uint8Array {
    return Uint8Array.from(this.#seed)
  }

  /** The 32-byte key of the HMAC that salts private and sealed blobs, a copy. */
  get blobKey(): Uint8Array {
    return Uint8Array.from(this.#blobKey)
  }

  /** A new signer of this key; the caller closes it. */
  signer(): LocalSigner {
    return localSigner(this.#seed)
  }

  toJSON(): { readonly identity: IdentityId; readonly publicKey: PublicKey } {
    return { identity: this.identity, publicKey: this.publicKey }
  }
}

/** Makes a new identity: a random seed and a random blob key. */
export function generateIdentity(random: Random = systemRandom): IdentityKeys {
  return new IdentityKeys({
    seed: random.bytes(SEED_BYTES),
    blobKey: random.bytes(BLOB_KEY_BYTES)
  })
}

/** Makes the next key of an identity, for a rotation: new seed, same identity and blob key. */
export function newKeyFor(keys: IdentityKeys, random: Random = systemRandom): IdentityKeys {
  return new IdentityKeys({
    identity: keys.identity,
    seed: random.bytes(SEED_BYTES),
    blobKey: keys.blobKey
  })
}
