import { chainJournal } from '../block/index.js'
import { type Hash, type RunId, TallyError } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'

/**
 * Why the journal of a run is not what this ledger wrote: its last code does not fit its entries.
 * Undefined when it fits.
 */
export async function forgedJournal(
  ledger: Pick<Ledger, 'journal' | 'authenticate'>,
  runId: RunId
): Promise<TallyError | undefined> {
  let hash: Hash | '' = ''
  let last: Hash | undefined
  let entry = -1
  for await (const { n, text, mac } of ledger.journal(runId)) {
    hash = chainJournal(hash, text)
    last = mac
    entry = n
  }
  if (hash === '' || last === ledger.authenticate(hash)) return undefined
  return new TallyError('run.journal_forged', { runId, entry })
}
