import { inspectLocation, marksOf } from '../../ledger/index.js'
import { findingsOf, ledgerHealth } from './ledger-health.js'
import { checkDisk, checkNode, checkPlace } from './place-checks.js'
import type { QueryParts } from './query-parts.js'
import type { HealthCheck } from './query-types.js'

/** What `tally doctor` checks, asked of the process that has the ledger open. */
export async function doctorChecks(parts: QueryParts): Promise<readonly HealthCheck[]> {
  const { ledger, location, isFollower = false } = parts
  const { mode, cause = null, receipts } = ledger.state()
  const marks = await marksOf(ledger).catch(() => [])
  const quarantined = marks.filter(({ isReleased }) => !isReleased)
  const warnings = (await parts.warnings?.()) ?? []
  const findings = findingsOf({ cause, causes: parts.causes?.() ?? [], warnings })
  const condition = { mode, receipts, isFollower, quarantined }
  const health = async () => ledgerHealth(condition, findings, process.pid)
  // In memory, and of a snapshot file, there is no place.
  const isPlace = (await inspectLocation(location).catch(() => undefined)) !== undefined
  if (!isPlace) return [checkNode(), ...(await health())]
  const place = await checkPlace(location, { health, isHeldHere: true })
  return [checkNode(), ...place, await checkDisk(location, location)]
}
