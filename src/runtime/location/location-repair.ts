import { rm } from 'node:fs/promises'
import { type Hash, type IdentityId, isTallyError, ledgerError } from '../../core/index.js'
import {
  type GivenNote,
  type HeldStore,
  type HoldOptions,
  holdStore,
  isUnreadable,
  type RepairOutcome,
  repairLedger,
  salvagingStores
} from '../../ledger/index.js'
import { dropLock, readRollback } from '../opening/integrity-lock.js'
import {
  consentFlags,
  type RemediedCause,
  type RepairConsent,
  remedied
} from '../opening/opening-remedies.js'
import { removeMalformed } from '../opening/package-bytes.js'
import { blobKeyOf, subjectKeysOf } from './blob-key.js'
import { inspectHeld } from './inspect-opening.js'
import { identityOf, type NamedIdentity } from './reader.js'

/** How a recovery went, and which data directory is the live one now. */
export interface LocationRepair {
  readonly recovery: RepairOutcome
  readonly live: string
  /** The data directory that was live before, when the chain was cut; it is kept. */
  readonly kept: string | null
  /** Why the ledger would have opened in safe mode; none when it would not have. */
  readonly causes: readonly RemediedCause[]
  /** Code hashes of stored packages that were removed: they are to be installed again. */
  readonly removed: readonly Hash[]
}

export interface RepairLocationOptions extends NamedIdentity {
  readonly notes: readonly GivenNote[]
  /** Makes a new data directory of the longest verified prefix where nothing else is left. */
  readonly allowCut: boolean
  /** Paths of all archives of the ledger; a new data directory has their history too. */
  readonly archives?: readonly string[]
  readonly acknowledgeNotes: boolean
  /** Drops a lock that the ledger is not what it says; the next opening writes it anew. */
  readonly acceptLock?: boolean
  /** Removes stored packages whose bytes are not what their names say. */
  readonly removePackages?: boolean
  /** Opens the key file, with which the lock is authenticated. */
  readonly passphrase?: string | undefined
  /** Hears of the causes, and what ends them, before anything is changed. */
  readonly onCauses?: (causes: readonly RemediedCause[]) => void
}

/**
 * Gets a ledger out of safe mode (K2). What loses something needs a consent: where one is missing
 * for a cause that can be seen beforehand, nothing is changed. Wrong indexes are removed without
 * one, for the next opening to make them again. A cause that another one hid is found only then:
 * the repair is refused, and what was done before stays done. A cut makes a new data directory of
 * the longest verified prefix, and the marker switches to it (L9); the old one stays.
 * Throws `ledger.not_recoverable`, `ledger.not_found`, `ledger.locked`, `archive.*`.
 */
export async function repairLocation(
  location: string,
  options: RepairLocationOptions
): Promise<LocationRepair> {
  const stores = await salvagingStores()
  const held = await holdDamaged(location, options.allowCut ? { stores } : {})
  try {
    const identity = identityOf(held, options)
    const { notes, allowCut, acknowledgeNotes, passphrase, archives = [] } = options
    const { damage } = stores
    const found = await inspectHeld(held, { identity, passphrase })
    const causes = damage === undefined ? found.causes : [remedied(damage), ...found.causes]
    options.onCauses?.(causes)
    // Whether the chain has to be cut, its verification says.
    refuse(
      causes.filter(({ consent }) => consent !== 'cut'),
      options
    )
    const { realPath, marker } = held.location
    const blobKey = await blobKeyOf(realPath, identity, passphrase)
    const subjects = subjectKeysOf(realPath, identity)
    const isSalvaged = damage !== undefined
    const given = { store: held.store, identity, notes, archives, isSalvaged }
    const asked = { ...given, acknowledgeNotes, blobKey, subjects }
    const removing = async () => (options.removePackages === true ? removeMalformed(realPath) : [])
    let recovery: RepairOutcome
    try {
      recovery = await repairLedger(asked)
    } catch (error) {
      if (!allowCut || !isTallyError(error, 'ledger.not_recoverable')) throw ofDatabase(error)
      const cut = await cutInto(held, asked)
      await dropLock(realPath, identity)
      return { ...cut, causes, removed: await removing() }
    }
    const removed = await removing()
    const { receipts } = recovery.report
    const acceptLock = options.acceptLock === true
    await endLock(held, { identity, receipts, causes, acceptLock, acknowledgeNotes })
    // A cause that an earlier one hid, or that a clean chain does not end.
    refuse((await inspectHeld(held, { identity, passphrase })).causes, options)
    return { recovery, live: marker.live, kept: null, causes, removed }
  } finally {
    await held.close()
  }
}

/** Takes hold of the ledger, or of what can still be read of a damaged database. */
async function holdDamaged(location: string, options: HoldOptions): Promise<HeldStore> {
  try {
    return await holdStore(location, options)
  } catch (error) {
    throw ofDatabase(error)
  }
}

/** Says what leads out of a database that is damaged itself, where `error` tells of one. */
function ofDatabase(error: unknown): unknown {
  if (!isUnreadable(error)) return error
  const way = `"tally recover ${consentFlags.cut}" makes a new one of what can still be read`
  return ledgerError(
    'ledger.not_recoverable',
    { problem: `${error.message} Its database is damaged; ${way}` },
    { cause: error }
  )
}

/** Throws `ledger.not_recoverable` for a cause that nothing ends, or nothing that was asked for. */
function refuse(causes: readonly RemediedCause[], options: RepairLocationOptions): void {
  const given: Readonly<Record<RepairConsent, boolean>> = {
    // What would have been cut off is no cause any more.
    cut: false,
    acceptLock: options.acceptLock === true,
    acknowledgeNotes: options.acknowledgeNotes,
    removePackages: options.removePackages === true
  }
  for (const { message, does, loses, consent } of causes) {
    if (consent !== null && given[consent]) continue
    const needs = consent === null ? '' : `; "tally recover ${consentFlags[consent]}" does it`
    const lost = loses === null ? '' : `; lost is ${loses}`
    throw ledgerError('ledger.not_recoverable', { problem: `${message} ${does}${lost}${needs}` })
  }
}

/** A lock that says of more receipts is as good as a note: losing them is to be acknowledged. */
async function endLock(
  { location }: HeldStore,
  found: {
    readonly identity: IdentityId
    readonly receipts: number
    readonly causes: readonly RemediedCause[]
    /** Drops a lock whose code could not be checked, too: the key may be sealed. */
    readonly acceptLock: boolean
    readonly acknowledgeNotes: boolean
  }
): Promise<void> {
  const rollback = await readRollback(location.realPath, found)
  if (rollback !== undefined && !found.acknowledgeNotes) {
    throw ledgerError('ledger.not_recoverable', { problem: rollback.message })
  }
  const isWrong = found.acceptLock || found.causes.some(({ code }) => lockCodes.has(code))
  if (isWrong || rollback !== undefined) await dropLock(location.realPath, found.identity)
}

const lockCodes: ReadonlySet<string> = new Set(['runtime.integrity_lock', 'runtime.rolled_back'])

async function cutInto(
  { location }: HeldStore,
  options: Omit<Parameters<typeof repairLedger>[0], 'target'>
): Promise<Omit<LocationRepair, 'causes' | 'removed'>> {
  const before = location.marker.live
  const { name, path } = await location.nextData()
  const target = await location.stores.create(path)
  let recovery: RepairOutcome
  try {
    recovery = await repairLedger({ ...options, target })
  } catch (error) {
    await target.close()
    await rm(path, { recursive: true, force: true })
    throw error
  }
  await target.close()
  await location.switchLive(name)
  return { recovery, live: name, kept: before }
}
