import type { PublicKey } from '../core/index.js'

/**
 * Whatever holds a private key: a key in this process, or a key service behind a network.
 *
 * `sign` gives the 64 raw bytes of an RFC 8032 signature. A signer of this process answers at once,
 * a key service with a promise. The ledger passes 32-byte hashes; rotation passes its own message.
 */
export interface Signer {
  readonly publicKey: PublicKey
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>
  /**
   * Signs n 32-byte hashes, concatenated, and gives n 64-byte signatures, concatenated in the same
   * order. All or nothing. Without it the ledger signs one after the other.
   */
  signMany?(hashes: Uint8Array): Promise<Uint8Array>
  /** Lets go of threads or connections; calls after it are refused. */
  close?(): void | Promise<void>
}
