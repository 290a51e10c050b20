import type { JournalEntry } from '../../block/index.js'
import { TAGS_EFFECT, tagsSet } from '../../code/index.js'
import type { RunId } from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'

export interface TagParts {
  readonly ledger: Pick<Ledger, 'journal'>
  /** Of a run that a pump drives here: the tags that its code has set. */
  live(id: RunId): { readonly tags: readonly string[] | undefined } | undefined
}

/** Tags by which a run is found: of its start, and those that its code has set last, sorted. */
export function tagsOfRecord({ started, last }: RunRecord): readonly string[] {
  return joined(started['tags'], last === started ? undefined : last['tags'])
}

/**
 * The same as of now. A run that is under way has set tags since its last entry about itself, which
 * its pump knows; of one that was interrupted, its journal is read from there on.
 */
export async function tagsOfRun(
  record: RunRecord,
  { ledger, live }: TagParts
): Promise<readonly string[]> {
  const { runId, status, started, last, isErased } = record
  if (status !== 'running' || isErased) return tagsOfRecord(record)
  const known = live(runId)
  if (known !== undefined) return joined(started['tags'], known.tags)
  let tags = last === started ? undefined : last['tags']
  const isWanted = (text: string) => text.includes(`"effect":"${TAGS_EFFECT}"`)
  for await (const { value } of ledger.journal(runId, Number(last['n'] ?? 0), isWanted)) {
    // The journal gives back what the pump has written.
    const entry = value as unknown as JournalEntry
    if (entry.k === 'sealed') tags = (tagsSet(entry) as string[] | undefined) ?? tags
  }
  return joined(started['tags'], tags)
}

const none: readonly string[] = []

/** Entries have lists of texts there, or nothing. */
function joined(given: unknown, set: unknown): readonly string[] {
  if (set === undefined) return given === undefined ? none : (given as readonly string[])
  const tags = [...((given ?? none) as readonly string[]), ...(set as readonly string[])]
  return [...new Set(tags)].sort()
}
