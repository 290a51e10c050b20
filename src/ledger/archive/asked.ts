import type { IdentityId } from '../../core/index.js'
import type { Store } from '../stores/port.js'
import type { ArchiveReport } from './archiving-api.js'

/** What reads archives is loaded when one is read. */

/**
 * Checks an archive alone: form, declared counts, hash and signature of the file; the chain from
 * where it begins to where it ends, with every link, hash and signature; the log; bodies; and the
 * journals of runs that began in it. Throws `archive.unreadable`, `archive.malformed`,
 * `archive.unknown_version`, `archive.not_verified`.
 */
export async function checkArchive(
  path: string,
  onCommit?: (done: number, total: number) => void
): Promise<ArchiveReport> {
  return (await import('./check.js')).checkArchive(path, onCommit)
}

/**
 * A store with what its archives hold: the ledger as if nothing had been archived, to verify or to
 * export. Every file is checked alone first, and must be one whose hash the ledger names; all have
 * to be there. Nothing is written to it. Throws `archive.*`, `ledger.corrupt`.
 */
export async function wholeStore(
  store: Store,
  identity: IdentityId,
  paths: readonly string[]
): Promise<Store> {
  return (await import('./whole-store.js')).wholeStore(store, identity, paths)
}

/**
 * The source records of a ledger and of its archives: what it can be made again from when its own
 * records of what was archived are lost, or wrong. The archives then say themselves in which order
 * they stand and where they end; whether they are of this ledger, a verification of what this gives
 * says. Throws `archive.*`.
 */
export async function sourceStore(
  store: Store,
  identity: IdentityId,
  paths: readonly string[]
): Promise<Store> {
  return (await import('./whole-store.js')).sourceStore(store, identity, paths)
}
