import { isTallyError, type JsonObject } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import type { IntegrityLock } from './integrity-lock.js'
import { type RemediedCause, remedied } from './opening-remedies.js'
import { removeMalformed } from './package-bytes.js'
import type { Packages } from './packages.js'
import type { RuntimeAudit } from './verifying.js'

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
 * it: `acceptLock`, `acknowledgeNotes`, `removePackages`. Nothing is done otherwise, and the
 * answer says what would be. A chain is never cut while the ledger is open.
 */
export async function repairOpen(parts: Parts, payload: JsonObject): Promise<OpenRepair> {
  const { ledger, packages, audit, lock, realPath } = parts
  const causes = await lasting(parts)
  const needed = causes.find(
    ({ consent, isRecoverable }) => !isRecoverable || consent === null || payload[consent] !== true
  )
  // What is executed again needs code that is right, or none.
  if (needed === undefined && payload['removePackages'] === true && realPath !== undefined) {
    await removeMalformed(realPath)
    await packages.arrange()
  }
  const report = await audit.verify({}, { lock: false })
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

/** Causes that a clean verification does not end, as they are now. */
async function lasting({ ledger, packages, lock }: Parts): Promise<readonly RemediedCause[]> {
  const { mode, cause } = ledger.state()
  if (mode !== 'safe' || cause === undefined) return []
  if (cause.code === 'runtime.newer_versions') return [remedied(cause)]
  try {
    await packages.arrange()
    const found = [await lock.check(), packages.damage]
    return found.flatMap((one) => (one === undefined ? [] : [remedied(one)]))
  } catch (error) {
    if (!isTallyError(error)) throw error
    // Its records are damaged, as the verification says.
    return []
  }
}
