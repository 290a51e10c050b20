import type { IdentityId } from '../../core/index.js'
import type { Store } from './port.js'

/**
 * Has a store forget values of an identity that were replaced or removed. LevelDB writes what it
 * has in memory into a file as it is, older values included, and rewrites a file of its last level
 * only with a newer one above it: that one has nothing but the removal of two keys which never
 * were, before and behind all others.
 */
export async function scrubStore(store: Store, identity: IdentityId): Promise<void> {
  await store.compact()
  await store.commit([{ puts: [], deletes: [`${identity}/!`, `${identity}/~`] }])
  await store.compact()
}
