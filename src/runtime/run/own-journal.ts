import {
  blockError,
  chainJournal,
  type Hash,
  type RunId,
  type TallyError
} from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'

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
  return blockError('run.journal_forged', { runId, entry })
}

/** Why the journal of some open run is not what this ledger wrote. */
export async function forgedOpenJournal(
  ledger: Pick<Ledger, 'forgedJournal'>
): Promise<TallyError | undefined> {
  const forged = await ledger.forgedJournal()
  return forged && blockError('run.journal_forged', { ...forged })
}

/** Puts a ledger in use into safe mode where opening it would, for what its open runs have. */
export async function judgeOpenJournals(
  ledger: Pick<Ledger, 'enterSafeMode' | 'forgedJournal' | 'state'>
): Promise<void> {
  const { mode } = ledger.state()
  if (mode !== 'ready') return
  const forged = await forgedOpenJournal(ledger)
  if (forged !== undefined) ledger.enterSafeMode({ code: forged.code, message: forged.message })
}
