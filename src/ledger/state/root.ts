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

/**
 * The root of a whole state: head root or execution root, by its commitment (formats.md §4).
 *
 * @example sha256 of
 * {"capabilityVersion":1,"identityPublicKey":"..","installedDApps":"..",
 *  "receiptChainCommitment":null,"storage":"..","version":1}   -- without the line break
 */
export function stateRoot(parts: StateRootParts): StateRoot {
  const { capabilityVersion, stateRootVersion, receiptChainCommitment: commitment } = parts
  assert(
    Number.isSafeInteger(capabilityVersion) && Number.isSafeInteger(stateRootVersion),
    'a version in a state root is not an integer'
  )
  // Written out by hand: two roots are taken per receipt, and hex and integers need no escaping.
  return sha256Hex(
    `{"capabilityVersion":${capabilityVersion},"identityPublicKey":"${parts.identityPublicKey}",` +
      `"installedDApps":"${parts.installedDApps}","receiptChainCommitment":` +
      `${commitment === null ? 'null' : `"${commitment}"`},"storage":"${parts.storage}",` +
      `"version":${stateRootVersion}}`
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
