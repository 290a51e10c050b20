import type { Ledger } from '../../ledger/index.js'
import type { ReadingRights } from '../gate/reading-rights.js'
import type { Params } from './params.js'

/** What the caller is shown; the owner needs nothing of the rooms that run things. */
export async function rightsOf(
  params: Params,
  ledger: Ledger
): Promise<Pick<ReadingRights, 'sees' | 'check'>> {
  const agent = params.optionalText('agent')
  const answers = params.flag('answers')
  if (agent === undefined) return { sees: () => true, check: () => undefined }
  return new (await import('../gate/reading-rights.js')).ReadingRights(ledger, { agent, answers })
}
