import type { VerificationReport } from '../../audit/index.js'
import { isTallyError, type JsonObject } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { RuntimeAudit } from '../audit/verifying.js'
import type { Packages } from '../code/packages.js'
import { forgedOpenJournal } from '../run/own-journal.js'
import type { IntegrityLock } from './integrity-lock.js'
import { type RemediedCause, remedied } from './opening-remedies.js'
import { removeMalformed } from './package-bytes.js'

/** What `system.recover` answers. */
export interface OpenRepair {
  /** Whether everything verifies and safe mode, if it was, has ended. */
  readonly ok: boolean
  readonly mode: string
  readonly line: string
  /** Why the ledger is in safe mode still, what `recover` does about it, and what that loses. */
  readonly cause: RemediedCause | null
}

interface Parts {
  readonly ledger: Ledger
  readonly packages: Packages
  readonly audit: RuntimeAudit
  readonly lock: IntegrityLock
  /** Undefined in memory. */
  readonly realPath: string | undefined
}

/**
 * Ends the safe mode of an open ledger after a clean full verification, of the stored packages and
 * the integrity lock too (K2, K10). What loses something is done only when the payload consents to
 * it: `acceptLock`, `acknowledgeNotes`, `removePackages`. Where a consent is missing, nothing is
 * done, and the answer says what would be. Packages are removed before the verification, and stay
 * removed where it fails. A chain is never cut, and no index is removed, while the ledger is open.
 * As from the shell, code that gives something else than was signed keeps no ledger in safe mode.
 */
export async function repairOpen(parts: Parts, payload: JsonObject): Promise<OpenRepair> {
  const { ledger, packages, lock, realPath } = parts
  const causes = await lasting(parts)
  const needed = causes.find(
    ({ consent, isRecoverable }) => !isRecoverable || consent === null || payload[consent] !== true
  )
  if (needed === undefined && payload['removePackages'] === true && realPath !== undefined) {
    await removeMalformed(realPath)
    await packages.arrange()
  }
  const report = await verified(parts)
  const { line } = report
  if (!report.ok || needed !== undefined) {
    const { mode, cause } = ledger.state()
    const told = needed ?? (cause === undefined ? null : remedied(cause))
    return { ok: false, mode, line, cause: told }
  }
  if (ledger.state().mode === 'safe') ledger.leaveSafeMode(report)
  if (causes.length > 0) await lock.keep()
  return { ok: true, mode: ledger.state().mode, line, cause: null }
}

/** All is executed again; a difference that lies in code leaves the records to be judged (L14). */
async function verified({ audit }: Parts): Promise<VerificationReport> {
  const report = await audit.verify({}, { lock: false })
  if (report.difference === undefined) return report
  // With the key, the records include the journals of open runs.
  return audit.verify({ reexecute: false }, { lock: false })
}

/** Causes that a clean verification does not end, as they are now. */
async function lasting({ ledger, packages, lock }: Parts): Promise<readonly RemediedCause[]> {
  const { mode, cause } = ledger.state()
  if (mode !== 'safe' || cause === undefined) return []
  if (cause.code === 'runtime.newer_versions') return [remedied(cause)]
  try {
    await packages.arrange()
    const found = [await lock.check(), packages.damage, await forgedOpenJournal(ledger)]
    return found.flatMap((one) => (one === undefined ? [] : [remedied(one)]))
  } catch (error) {
    if (!isTallyError(error)) throw error
    // Its records are damaged, as the verification says.
    return []
  }
}
