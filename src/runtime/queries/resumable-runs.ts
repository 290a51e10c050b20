import type { Json } from '../../core/index.js'
import { type Ledger, marksOf, type QuarantineMark } from '../../ledger/index.js'
import { checkOpenRuns } from '../audit/upgrade-check.js'
import type { Registry } from '../code/registry.js'

/**
 * Which open runs can continue, with the code at hand, and which are quarantined. Without code,
 * where a ledger is only read, `ready` is null: nothing says so.
 */
export async function resumableRuns(
  ledger: Ledger,
  registry: Registry | undefined
): Promise<{ readonly runs: readonly Json[]; readonly quarantined: readonly QuarantineMark[] }> {
  const marks = await marksOf(ledger).catch(() => [])
  const quarantined = marks.filter(({ isReleased }) => !isReleased)
  if (registry !== undefined) {
    const runs = await checkOpenRuns(ledger, registry)
    return { runs: runs.map((run) => ({ ...run, missing: [...run.missing] })), quarantined }
  }
  const runs: Json[] = []
  for (const record of ledger.openRuns({ durable: true })) {
    const { runId: id, status, started } = record
    const name = started['name'] ?? null
    runs.push({
      id,
      name,
      status,
      ready: null,
      missing: [],
      problem: null,
      foldsUnderCurrent: null
    })
  }
  return { runs, quarantined }
}
