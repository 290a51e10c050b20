import type { JournalEntry } from '../../block/index.js'
import { PUBLISH_EFFECT, type Published } from '../../code/index.js'
import { blockError, type Json, type RunId } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'

/** What a run has published last under a key, as far as it is durable; undefined: nothing. */
export async function publishedValue(
  ledger: Ledger,
  runId: RunId,
  key: string
): Promise<Json | undefined> {
  if (!ledger.hasRun(runId)) throw blockError('run.not_found', { runId })
  let found: Json | undefined
  const isWanted = (text: string) => text.includes(`"effect":"${PUBLISH_EFFECT}"`)
  for await (const { value } of ledger.journal(runId, 0, isWanted)) {
    // The journal gives back what the pump has written.
    const entry = value as unknown as JournalEntry
    if (entry.k !== 'sealed' || entry.effect !== PUBLISH_EFFECT || !entry.ok) continue
    const published = entry.body as unknown as Published
    if (published.key === key) found = published.value
  }
  return found
}
