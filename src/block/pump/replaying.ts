import { assert, type Json } from '../../core/index.js'
import type { RecordedResult } from '../run/folded-answers.js'
import type { Attempt } from './attempt.js'
import type { PumpParts } from './parts.js'
import { Recall, type RecallPort, type RecallReader } from './recall.js'

/**
 * An attempt whose recorded results were gone through, and the calls that it does not make any more
 * (L10).
 */
export interface Replayed {
  readonly attempt: Attempt
  readonly dropped: readonly number[]
}

/** The journal of a run, to read answers back from. */
export function recallPortOf({ host, writer, state }: PumpParts): RecallPort {
  return { runId: state.runId, journal: host.journal, durable: () => writer.durable() }
}

/**
 * Gives the code of attempts the answers of their recorded results again (K9). What the recorded
 * results do not hold is read from the journal, once for all of them. Rejects when all of them have
 * stopped.
 */
export async function replayRecordedResults(
  attempts: readonly Attempt[],
  parts: PumpParts
): Promise<readonly Replayed[]> {
  const long = attempts.filter(({ needsJournal }) => needsJournal)
  if (long.length === 0) return each(attempts, (attempt) => replayed(attempt, undefined))
  const recalled = long.map((attempt) => ({ place: attempt.ask, tape: attempt.recorded }))
  const recall = new Recall(recallPortOf(parts), recalled)
  const reading = recall.run()
  const done = await each(attempts, (attempt) =>
    replayed(attempt, attempt.needsJournal ? recall.reader(attempt.ask) : undefined)
  )
  await reading
  return done
}

async function each(
  attempts: readonly Attempt[],
  replay: (attempt: Attempt) => Promise<Replayed>
): Promise<readonly Replayed[]> {
  const results = await Promise.allSettled(attempts.map(replay))
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value
    throw result.reason
  })
}

async function replayed(attempt: Attempt, reader: RecallReader | undefined): Promise<Replayed> {
  const recall = async (answer: RecordedResult): Promise<Json> => {
    const body = await reader?.next(answer)
    assert(body !== undefined, 'the journal has every answer of a tape')
    return body
  }
  try {
    return { attempt, dropped: await attempt.replayAll(recall) }
  } finally {
    reader?.close()
  }
}
