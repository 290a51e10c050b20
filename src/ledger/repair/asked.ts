import type { RepairOptions, RepairOutcome } from './repair.js'
import type { SalvagingStores } from './salvage.js'

/** What repairs a ledger is loaded when one is repaired. */

/**
 * Gets a ledger out of safe mode (K2): by a clean full verification, by making derived records
 * again, or, where a target is given, by keeping the longest verified prefix. A ledger of which
 * history is archived is only made again in a target, of what it and its archives have.
 * Throws `archive.*`, and `ledger.not_recoverable` when something would be lost that was not
 * acknowledged.
 */
export async function repairLedger(options: RepairOptions): Promise<RepairOutcome> {
  return (await import('./repair.js')).repairLedger(options)
}

/** Opens what can still be read of databases that are damaged themselves. */
export async function salvagingStores(): Promise<SalvagingStores> {
  const { SalvagingStores } = await import('./salvage.js')
  return new SalvagingStores()
}
