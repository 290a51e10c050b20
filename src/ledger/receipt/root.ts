import type { Hash, PublicKey, StateRoot } from '../../core/index.js'
import { stateRoot } from '../state/index.js'

/** Versions that every root commits to; a change of one is a `system.upgrade` receipt. */
export const STATE_ROOT_VERSION = 1
export const CAPABILITY_VERSION = 1

/** What a root of this version commits to (formats.md §4). */
export interface RootParts {
  readonly publicKey: PublicKey
  readonly installedDApps: Hash
  readonly storage: Hash
  /** Hash of a receipt, or null before the first. */
  readonly commitment: Hash | null
}

/**
 * A root of the current versions. An execution root commits to the receipt before the one that it
 * stands in, a head root to the last receipt.
 */
export function rootOf({ publicKey, installedDApps, storage, commitment }: RootParts): StateRoot {
  return stateRoot({
    storage,
    receiptChainCommitment: commitment,
    identityPublicKey: publicKey,
    capabilityVersion: CAPABILITY_VERSION,
    stateRootVersion: STATE_ROOT_VERSION,
    installedDApps
  })
}
