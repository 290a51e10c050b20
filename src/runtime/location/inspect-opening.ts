import { holdForReading, openLedger, type ReadableStore } from '../../ledger/index.js'
import type { Registrations } from '../code/registrations.js'
import type { OpeningTime } from '../opening/opening-checks.js'
import { type RemediedCause, remedied } from '../opening/opening-remedies.js'
import { blobKeyOf, subjectKeysOf } from './blob-key.js'
import { identityOf, type NamedIdentity, noSigner } from './reader.js'

/** What opening a location would find. */
export interface OpeningReport {
  /** Causes of safe mode; opening names the first. None: it opens ready. */
  readonly causes: readonly RemediedCause[]
  readonly warnings: readonly string[]
  readonly notChecked: readonly string[]
}

export interface InspectOptions extends NamedIdentity, OpeningTime {
  /** Opens the key file, with which the integrity lock is authenticated. */
  readonly passphrase?: string | undefined
  /** Code with which the last receipt is executed again. */
  readonly code?: Registrations | undefined
}

/**
 * Checks a location as opening it does, and changes nothing (K10). Without code of the program,
 * only receipts of the kernel and of packages are executed again. Throws the codes of opening.
 */
export async function inspectOpening(
  location: string,
  options: InspectOptions = {}
): Promise<OpeningReport> {
  const held = await holdForReading(location)
  try {
    return await inspectHeld(held, options)
  } finally {
    await held.close()
  }
}

/** As {@link inspectOpening}, of a store that is held already. */
export async function inspectHeld(
  held: Pick<ReadableStore, 'store' | 'location'>,
  options: InspectOptions
): Promise<OpeningReport> {
  const identity = identityOf(held, options)
  const { realPath } = held.location
  // Reading a ledger does not need these rooms, and loads this file.
  const { KERNEL_VERSION, programVersions: versions } = await import('../../intent/index.js')
  const { Registry } = await import('../code/registry.js')
  const { pipelineFor } = await import('../intent/intent-pipeline.js')
  const { Packages } = await import('../code/packages.js')
  const { IntegrityLock } = await import('../opening/integrity-lock.js')
  const { checkOpening } = await import('../opening/opening-checks.js')
  const blobKey = await blobKeyOf(realPath, identity, options.passphrase)
  const subjects = subjectKeysOf(realPath, identity)
  const keyed = blobKey === undefined ? { subjects } : { blobKey, subjects }
  const { store } = held
  const ledger = await openLedger({ store, identity, signer: noSigner, readOnly: true, ...keyed })
  const code = await Registry.open(options.code ?? {})
  const { packageCache, sandbox } = pipelineFor(code, { identity, realPath })
  const packages = new Packages(ledger, packageCache, sandbox)
  const lock = new IntegrityLock({
    ledger,
    kernel: KERNEL_VERSION,
    realPath,
    codeHashes: () => packages.installedCode(),
    isKeyed: blobKey !== undefined
  })
  try {
    const { clock } = options
    const time = clock === undefined ? {} : { clock }
    const found = await checkOpening({ ledger, lock, packages, code, versions, ...time })
    const { notDone } = found
    return {
      causes: found.causes.map(remedied),
      warnings: notDone === undefined ? found.warnings : [],
      notChecked: notDone === undefined ? found.notChecked : [...found.notChecked, notDone]
    }
  } finally {
    await packages.close()
    await ledger.close()
  }
}
