import { limits } from '../../core/index.js'

/**
 * Where permissions and package data stand in an identity's state (formats.md §4, semantics.md K5).
 *
 * ```
 * permissions/<identity>/<code hash>/<capability>   {"at":..,"by":{"id":..,"kind":..}}
 * preferences/<canonical or action>                 {"at":..,"by":..,"provider":<package id>}
 * approvers/<Ed25519 public key>                    {..}: may grant and answer waits (K13)
 * packages/<package id>/<key of the package>        what a package stores
 * system/grants/<identity>/<kind>/<id>/<code hash>/<capability>
 *     {"at":..,"by":..,"subject":..}: a principal may use it (K14); `id` is percent-encoded
 * ```
 *
 * Identities and code hashes are 64 hex digits, capabilities and package ids hold no slash, so no
 * two rows of a table share a key.
 */
export const GRANTS_PREFIX = 'permissions/'
export const PREFERENCES_PREFIX = 'preferences/'
export const APPROVERS_PREFIX = 'approvers/'
export const PRINCIPAL_GRANTS_PREFIX = 'system/grants/'
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

interface PrincipalOfKey {
  readonly identity: string
  readonly principal: { readonly kind: string; readonly id: string }
}

/** Prefix of all grants of one principal, or undefined for one that no key can name. */
export function principalGrantsOf({ identity, principal }: PrincipalOfKey): string | undefined {
  const { kind, id } = principal
  if (id === '' || !id.isWellFormed()) return undefined
  const prefix = `${PRINCIPAL_GRANTS_PREFIX}${identity}/${kind}/${encodeURIComponent(id)}/`
  return prefix.length < limits.STATE_KEY_LENGTH_MAX ? prefix : undefined
}

/** Key of the entry that lets one principal use one capability of one code. */
export function principalGrantKey(
  grant: PrincipalOfKey & { readonly codeHash: string; readonly capability: string }
): string | undefined {
  const prefix = principalGrantsOf(grant)
  const { codeHash, capability } = grant
  const key = `${prefix}${codeHash}/${capability}`
  const isUsable = capability !== '' && !capability.includes('\0') && capability.isWellFormed()
  return prefix !== undefined && isUsable && key.length <= limits.STATE_KEY_LENGTH_MAX
    ? key
    : undefined
}

/** What the key of a principal's grant says, after the prefix of its identity. */
export function principalGrantIn(rest: string):
  | {
      readonly principal: { readonly kind: string; readonly id: string }
      readonly codeHash: string
      readonly capability: string
    }
  | undefined {
  const [kind, id, codeHash, ...capability] = rest.split('/')
  if (kind === undefined || id === undefined || codeHash === undefined) return undefined
  return {
    principal: { kind, id: decodeURIComponent(id) },
    codeHash,
    capability: capability.join('/')
  }
}
