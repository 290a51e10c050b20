import { isJsonObject, type Json } from '../../core/index.js'

/**
 * State entries `system/keys/<public key>`: every key of the identity that was replaced.
 *
 *     {"at":..,"by":{"id":..,"kind":..},"replacedBy":"<public key>","revoked":{"at":..,"by":..}}
 */
export const REPLACED_KEYS_PREFIX = 'system/keys/'

export function replacedKey(publicKey: string): string {
  return `${REPLACED_KEYS_PREFIX}${publicKey}`
}

/** Whether a key was revoked, in a state. */
export function isRevoked(state: { get(key: string): Json | undefined }, key: string): boolean {
  const entry = state.get(replacedKey(key))
  return isJsonObject(entry) && entry['revoked'] !== undefined
}
