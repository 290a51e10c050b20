import { limits } from '../../core/index.js'

/**
 * Where permissions and package data stand in an identity's state (formats.md §4, semantics.md K5).
 *
 * ```
 * permissions/<identity>/<code hash>/<capability>   {"at":..,"by":{"id":..,"kind":..}}
 * preferences/<canonical or action>                 {"at":..,"by":..,"provider":<package id>}
 * approvers/<Ed25519 public key>                    {..}: may grant and answer waits (K13)
 * packages/<package id>/<key of the package>        what a package stores
 * ```
 *
 * Identities and code hashes are 64 hex digits, capabilities and package ids hold no slash, so no
 * two rows of a table share a key.
 */
export const GRANTS_PREFIX = 'permissions/'
export const PREFERENCES_PREFIX = 'preferences/'
export const APPROVERS_PREFIX = 'approvers/'
export const PACKAGE_STORAGE_PREFIX = 'packages/'

/** Key of the entry that grants one capability to one code of one identity. */
export function grantKey(grant: {
  readonly identity: string
  readonly codeHash: string
  readonly capability: string
}): string {
  return `${grantsOf(grant)}${grant.capability}`
}

/** Prefix of all grants of one code. */
export function grantsOf(code: { readonly identity: string; readonly codeHash: string }): string {
  return `${GRANTS_PREFIX}${code.identity}/${code.codeHash}/`
}

export function preferenceKey(subject: string): string {
  return `${PREFERENCES_PREFIX}${subject}`
}

export function approverKey(publicKey: string): string {
  return `${APPROVERS_PREFIX}${publicKey}`
}

/**
 * Prefix below which a package's own entries stand; it survives an update of the package's code.
 */
export function packageStoragePrefix(packageId: string): string {
  return `${PACKAGE_STORAGE_PREFIX}${packageId}/`
}

/** Full state key of a package's key, or undefined when the key cannot be used. */
export function storageKey(packageId: string, key: string): string | undefined {
  const full = packageStoragePrefix(packageId) + key
  if (key === '' || full.length > limits.STATE_KEY_LENGTH_MAX) return undefined
  return key.includes('\0') || !key.isWellFormed() ? undefined : full
}
