import { compensationOf } from '../compensation.js'
import { differing, type Finding } from '../finding.js'
import type { Call } from '../run/calls.js'
import type { Sealed } from '../run/entries.js'
import type { AskedAttempt } from './open.js'
import type { CompensationPort } from './redo.js'

/** What a finding about a compensation is about. */
export const UNDO_FIELD = 'journal.undo'

/**
 * Works out again what undoes the writes of an attempt that was executed again: a compensation is a
 * function of the request, which the code has made once more, and the response, which is sealed.
 */
export function compensationFinding(
  { block }: AskedAttempt,
  recordedResults: readonly Sealed[],
  { calls, port }: { readonly calls: ReadonlyMap<number, Call>; readonly port: CompensationPort }
): Finding | undefined {
  for (const entry of recordedResults) {
    const call = calls.get(entry.seq)
    if (entry.undo === undefined || call === undefined) continue
    const { effect, body: response } = entry
    const compensation = block.compensate ?? port.provider(effect)?.compensate
    const again =
      compensation === undefined
        ? null
        : compensationOf(compensation, { effect, request: call.request ?? null, response })
    const differs = differing(UNDO_FIELD, again, entry.undo)
    const provider = block.compensate === undefined ? effect : undefined
    const finding = port.workedOut({ entry, provider, finding: differs })
    if (finding !== undefined) return finding
  }
  return undefined
}
