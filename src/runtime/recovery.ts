import { rm } from 'node:fs/promises'
import { type IdentityId, isTallyError, TallyError } from '../core/index.js'
import {
  type GivenNote,
  type HeldStore,
  holdStore,
  type Recovery,
  recoverLedger
} from '../ledger/index.js'
import { dropLock, readRollback } from './integrity-lock.js'
import { inspectPackages } from './package-bytes.js'
import { identityOf, type NamedIdentity } from './reader.js'

/** How a recovery went, and which data directory is the live one now. */
export interface LocationRecovery {
  readonly recovery: Recovery
  readonly live: string
  /** The data directory that was live before, when the chain was cut; it is kept. */
  readonly kept: string | null
}

/**
 * Gets a ledger out of safe mode (K2). With `allowCut` a new data directory is made of the longest
 * verified prefix, and the marker switches to it (L9); the old one stays.
 * Throws `ledger.not_recoverable`, `ledger.not_found`, `ledger.locked`.
 */
export async function recoverLocation(
  location: string,
  options: NamedIdentity & {
    readonly notes: readonly GivenNote[]
    readonly allowCut: boolean
    readonly acknowledgeNotes: boolean
  }
): Promise<LocationRecovery> {
  const held = await holdStore(location)
  try {
    const identity = identityOf(held, options)
    const { notes, allowCut, acknowledgeNotes } = options
    const asked = { store: held.store, identity, notes, acknowledgeNotes }
    try {
      const recovery = await recoverLedger(asked)
      await checkPackages(held)
      await endLock(held, { identity, receipts: recovery.report.receipts, acknowledgeNotes })
      return { recovery, live: held.location.marker.live, kept: null }
    } catch (error) {
      if (!allowCut || !isTallyError(error, 'ledger.not_recoverable')) throw error
    }
    const cut = await cutInto(held, asked)
    await dropLock(held.location.realPath, identity)
    return cut
  } finally {
    await held.close()
  }
}

/**
 * A chain that verifies does not make the bytes of a package right: it would be safe mode again.
 */
async function checkPackages({ location }: HeldStore): Promise<void> {
  const { malformed } = await inspectPackages(location.realPath)
  const [first] = malformed
  if (first === undefined) return
  throw new TallyError('runtime.malformed_packages', { problem: first.message })
}

/** A lock that says of more receipts is as good as a note: losing them is to be acknowledged. */
async function endLock(
  { location }: HeldStore,
  found: {
    readonly identity: IdentityId
    readonly receipts: number
    readonly acknowledgeNotes: boolean
  }
): Promise<void> {
  const rollback = await readRollback(location.realPath, found)
  if (rollback !== undefined && !found.acknowledgeNotes) {
    throw new TallyError('ledger.not_recoverable', { problem: rollback.message })
  }
  await dropLock(location.realPath, found.identity)
}

async function cutInto(
  { location }: HeldStore,
  options: Omit<Parameters<typeof recoverLedger>[0], 'target'>
): Promise<LocationRecovery> {
  const before = location.marker.live
  const { name, path } = await location.nextData()
  const target = await location.stores.create(path)
  let recovery: Recovery
  try {
    recovery = await recoverLedger({ ...options, target })
  } catch (error) {
    await target.close()
    await rm(path, { recursive: true, force: true })
    throw error
  }
  await target.close()
  await location.switchLive(name)
  return { recovery, live: name, kept: before }
}
