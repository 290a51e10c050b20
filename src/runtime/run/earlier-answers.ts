import type { JournalEntry, OpenWait, WaitMessage } from '../../block/index.js'
import { isJsonObject, type RunId } from '../../core/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { RunDocuments } from '../../workflow/index.js'

/**
 * Messages that answer these waits of a workflow's nodes by what the workflow was given before
 * (W3). Each is a message like any other, in the name of who gave the answer: it becomes a sealed
 * entry of the node that asks, and replays without this. A node that was given an input and asks
 * for it again does not get the same again.
 */
export async function earlierMessages(
  ledger: Pick<Ledger, 'journals'>,
  runId: RunId,
  waits: readonly OpenWait[],
  documents: RunDocuments
): Promise<readonly WaitMessage[]> {
  const { answerTexts, earlierAnswer, givenAnswers } = await import('../../workflow/index.js')
  const given = givenAnswers(await entriesWith(answerTexts, ledger, runId))
  if (given.length === 0) return []
  return waits.flatMap((wait) => {
    const { token, digest } = wait
    const answer = earlierAnswer(given, wait, documents)
    return answer === undefined ? [] : [{ token, digest, action: 'resume', ...answer }]
  })
}

/** What a run has journaled that holds one of some texts. */
export async function entriesWith(
  texts: readonly string[],
  ledger: Pick<Ledger, 'journals'>,
  runId: RunId
): Promise<readonly JournalEntry[]> {
  for await (const entries of ledger.journals([runId], texts)) {
    // The journal gives back what the pump has written.
    return entries.map(({ value }) => value as unknown as JournalEntry)
  }
  return []
}

/** Whether a wait may be that of a workflow's node for what it lacks. */
export function asksForValues({ reason, request }: OpenWait): boolean {
  const shown = isJsonObject(request) ? (request['request'] ?? null) : null
  return reason === 'external' && isJsonObject(shown) && shown['kind'] === 'missing'
}
