import {
  assert,
  canonicalize,
  type Hash,
  isHash,
  type PublicKey,
  type StateRoot,
  sha256Hex
} from '../../core/index.js'

/** What a head root or an execution root commits to (formats.md §4). */
export interface StateRootParts {
  /** Storage root: {@link StateTree.root}. */
  readonly storage: Hash
  /** The receipt hash that formats.md §4 names for this kind of root, or null. */
  readonly receiptChainCommitment: Hash | null
  /** The key in force; after a rotation receipt the new one. */
  readonly identityPublicKey: PublicKey
  readonly capabilityVersion: number
  readonly stateRootVersion: number
  /** {@link hashInstalledDApps} of the installed packages; computed once per change of them. */
  readonly installedDApps: Hash
}

/** Versions that every root commits to; a change of one is a `system.upgrade` receipt. */
export const STATE_ROOT_VERSION = 1
export const CAPABILITY_VERSION = 1

/** What a root of the current versions commits to. */
export interface RootParts {
  readonly publicKey: PublicKey
  readonly installedDApps: Hash
  readonly storage: Hash
  /** Hash of a receipt, or null before the first. */
  readonly commitment: Hash | null
}

/**
 * The root of a whole state: head root or execution root, by its commitment (formats.md §4).
 *
 * @example sha256 of
 * {"capabilityVersion":1,"identityPublicKey":"..","installedDApps":"..",
 *  "receiptChainCommitment":null,"storage":"..","version":1}   -- without the line break
 */
export function stateRoot(parts: StateRootParts): StateRoot {
  const { capabilityVersion, stateRootVersion } = parts
  assert(
    Number.isSafeInteger(capabilityVersion) && Number.isSafeInteger(stateRootVersion),
    'a version in a state root is not an integer'
  )
  const { identityPublicKey: publicKey, receiptChainCommitment: commitment } = parts
  return versionedRoot({ ...parts, publicKey, commitment }, capabilityVersion, stateRootVersion)
}

/**
 * A root of the current versions. An execution root commits to the receipt before the one that it
 * stands in, a head root to the last receipt.
 */
export function rootOf(parts: RootParts): StateRoot {
  return versionedRoot(parts, CAPABILITY_VERSION, STATE_ROOT_VERSION)
}

// Written out by hand: two roots are taken per receipt, and hex and integers need no escaping.
function versionedRoot(parts: RootParts, capability: number, version: number): StateRoot {
  const commitment = parts.commitment === null ? 'null' : `"${parts.commitment}"`
  return sha256Hex(
    `{"capabilityVersion":${capability},"identityPublicKey":"${parts.publicKey}",` +
      `"installedDApps":"${parts.installedDApps}","receiptChainCommitment":${commitment},` +
      `"storage":"${parts.storage}","version":${version}}`
  )
}

/** An installed capability package: its id, and the hash of its code. */
export interface InstalledDApp {
  readonly id: string
  readonly codeHash: Hash
}

/** sha256(JCS([{id, codeHash}])), sorted by id in UTF-16 code units; ids must differ. */
export function hashInstalledDApps(installed: Iterable<InstalledDApp>): Hash {
  const sorted = [...installed]
    .map(({ id, codeHash }) => ({ id, codeHash }))
    .sort((one, other) => (one.id < other.id ? -1 : 1))
  for (const [index, { id, codeHash }] of sorted.entries()) {
    assert(isHash(codeHash), 'an installed package has no code hash')
    assert(index === 0 || sorted[index - 1]?.id !== id, 'a package is installed twice')
  }
  return sha256Hex(canonicalize(sorted))
}
