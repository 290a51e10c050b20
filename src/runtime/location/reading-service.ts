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
  type Store
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
  verify: (notes: readonly GivenNote[]) => Promise<VerificationReport>
): OwnerHandler {
  const { ledger, store, identity, location, isFollower } = opened
  return serve({
    ledger,
    location,
    isFollower,
    exports: async (given) => {
      const { exportLedger } = await import('../system/exporting.js')
      const note = async () => null
      return exportLedger({ store, identity, verify: () => verify([]), note }, given)
    },
    verify: ({ notes }) => verify(notes)
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
  const verify = async (notes: readonly GivenNote[]) => {
    const { verifyLedgerDeep } = await import('../../audit/index.js')
    return verifyLedgerDeep({ store, identity, notes })
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
