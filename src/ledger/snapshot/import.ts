import type { IdentityId } from '../../core/index.js'
import type { Store } from '../stores/port.js'
import type { OpenLedger } from './import-open.js'
import type { ImportOptions, LocationImport } from './importing.js'

// Few of the processes that load the library or open a ledger read a snapshot.

/**
 * Imports a snapshot at a location (P3): builds a new data directory beside the old one, verifies
 * all of it, and then makes it the live one (L9), with its identity as a follower. Whatever fails
 * or dies before leaves what was there; what it left half-made, the next import removes.
 *
 * A ledger that is there must be of the same identity, and its commits must be the first ones of
 * the snapshot; one that is damaged may not have more of them. What the location holds of other
 * identities is kept as it is.
 * Throws `snapshot.*`, `ledger.locked`, and the codes of opening a location.
 */
export async function importSnapshot(
  location: string,
  options: ImportOptions
): Promise<LocationImport> {
  const { importIntoClosed } = await import('./importing.js')
  return importIntoClosed(location, options)
}

/**
 * Imports a snapshot at a location whose ledger this process has open (semantics.md K2, K10).
 * Throws what `importSnapshot` throws, and the refusal of a ledger that takes nothing.
 */
export async function importIntoOpen(
  open: OpenLedger,
  options: ImportOptions & { readonly isCalledOff: () => boolean }
): Promise<LocationImport> {
  const { importBeside } = await import('./import-open.js')
  return importBeside(open, options)
}

/**
 * Reads a snapshot into a store in memory, verified as an import verifies it. Throws
 * `snapshot.unreadable`, `snapshot.malformed`, `snapshot.unknown_version`, `snapshot.not_verified`.
 */
export async function openSnapshot(
  path: string
): Promise<{ readonly store: Store; readonly identity: IdentityId }> {
  const { storeOfSnapshot } = await import('./importing.js')
  return storeOfSnapshot(path)
}
