import type { WaitBegun } from '../run/entries.js'
import type { Attempt } from './attempt.js'

/** What an attempt waits for when it has nothing but waits left. */
export function firstWait(attempt: Attempt): WaitBegun | undefined {
  if (!attempt.isStarted) return attempt.waits.get(0)
  let first: WaitBegun | undefined
  for (const call of attempt.outstanding()) {
    const wait = attempt.waits.get(call.seq)
    if (wait === undefined) return undefined
    first ??= wait
  }
  return first
}
