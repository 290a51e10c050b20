import { realpath } from 'node:fs/promises'
import type { VerificationReport } from '../../audit/index.js'
import type { IdentityId } from '../../core/index.js'
import type { Signer } from '../../identity/index.js'
import {
  type GivenNote,
  type Ledger,
  type OwnerHandler,
  openLedger,
  openSnapshot,
  type Store,
  watchedStore,
  wholeStore
} from '../../ledger/index.js'
import { serve } from '../service/service.js'

/** A ledger that is read without its key. */
export interface LedgerReader {
  /** The methods that only read; the others throw `ledger.read_only`. */
  readonly service: OwnerHandler
  close(): Promise<void>
}

/** The methods that only read, over a ledger that is open. */
export function serviceForReading(
  opened: {
    readonly ledger: Ledger
    readonly store: Store
    readonly identity: IdentityId
    readonly location: string
    readonly isFollower: boolean
  },
  verify: (
    notes: readonly GivenNote[],
    onRecord?: () => void,
    archives?: readonly string[]
  ) => Promise<VerificationReport>
): OwnerHandler {
  const { ledger, store, identity, location, isFollower } = opened
  return serve({
    ledger,
    location,
    isFollower,
    exports: async (given) => {
      const { exportLedger } = await import('../system/exporting.js')
      const { archives } = given
      const whole = archives === undefined ? store : await wholeStore(store, identity, archives)
      const note = async () => null
      const verified = (onRecord?: () => void) => verify([], onRecord, archives)
      return exportLedger({ store: whole, identity, verify: verified, note }, given)
    },
    verify: ({ notes, onRecord, archives }) => verify(notes, onRecord, archives)
  })
}

/**
 * Opens a snapshot file in memory: nothing is imported and nothing written.
 * Throws `snapshot.unreadable`, `snapshot.malformed`, `snapshot.unknown_version`,
 * `snapshot.not_verified`.
 */
export async function openSnapshotReader(file: string, signer: Signer): Promise<LedgerReader> {
  const { store, identity } = await openSnapshot(file)
  const ledger = await openLedger({ store, identity, signer, readOnly: true })
  const verify = async (notes: readonly GivenNote[], onRecord?: () => void) => {
    const { verifyLedgerDeep } = await import('../../audit/index.js')
    const told = onRecord === undefined ? store : watchedStore(store, identity, onRecord)
    return verifyLedgerDeep({ store: told, identity, notes })
  }
  const location = await realpath(file)
  const opened = { ledger, store, identity, location, isFollower: true }
  return {
    service: serviceForReading(opened, verify),
    close: async () => {
      await ledger.close()
      await store.close()
    }
  }
}
