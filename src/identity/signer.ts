import type { Hash, IdentityId, PublicKey } from '../core/index.js'

/**
 * Whatever holds a private key: a key in this process, or a key service behind a network.
 *
 * `sign` gives the 64 raw bytes of an RFC 8032 signature. A signer of this process answers at once,
 * a key service with a promise. The ledger passes 32-byte hashes; rotation passes its own message.
 * Several signatures go to a signing pool, else to `signMany`, else one after the other to `sign`.
 */
export interface Signer {
  readonly publicKey: PublicKey
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>
  /**
   * Signs n 32-byte hashes, concatenated, and gives n 64-byte signatures, concatenated in the same
   * order. All or nothing.
   */
  signMany?(hashes: Uint8Array): Promise<Uint8Array>
  /** Of a signer of this process: a place in the pool that signs while more is being made. */
  joinPool?(): PoolMember
  /** Lets go of threads or connections; calls after it are refused. */
  close?(): void | Promise<void>
}

/** 32-byte hashes that a signing pool signs with one key, beside their one caller. */
export interface PoolMember {
  /** Hashes that may be put before they are collected. */
  readonly capacity: number
  put(hash: Hash): void
  /**
   * The signatures of all hashes since the last call, 64 bytes each, in the order of `put`; what is
   * not signed yet is signed here.
   */
  collect(): Uint8Array
  /** Leaves the pool; resolves once its thread has the key no more. */
  close(): Promise<void>
}

/** What an identity signs and salts with, wherever its private key is. */
export interface SigningKeys {
  readonly identity: IdentityId
  /** The key in force; differs from `identity` after a rotation. */
  readonly publicKey: PublicKey
  /** The 32-byte key from which salts and the codes of journals are derived. */
  readonly blobKey: Uint8Array
  signer(): Signer
}
