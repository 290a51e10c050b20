import { undoOf } from '../compensation.js'
import { differing, type Finding } from '../finding.js'
import type { Call } from '../pump/calls.js'
import type { Sealed } from '../pump/entries.js'
import type { Provider } from '../pump/performing.js'
import type { AskedAttempt } from './run-state.js'

/** What a finding about a compensation is about. */
export const UNDO_FIELD = 'journal.undo'

/** A write of a step inside an overlay whose journal entry says what undoes it (C4). */
export interface UndoOnTape {
  readonly entry: Sealed
  /** Unless the block says itself how its writes are undone: the effect whose provider does. */
  readonly provider: string | undefined
  /** What the block's or the provider's function says here. */
  readonly finding: Finding | undefined
}

/** Where compensations are worked out again, and what is to be made of them. */
export interface UndoPort {
  provider(name: string): Provider | undefined
  /** A finding that is to count. */
  workedOut(undo: UndoOnTape): Finding | undefined
}

/**
 * Works out again what undoes the writes of an attempt that was executed again: a compensation is a
 * function of the request, which the code has made once more, and the response, which is sealed.
 */
export function undoFinding(
  { block }: AskedAttempt,
  tape: readonly Sealed[],
  { calls, port }: { readonly calls: ReadonlyMap<number, Call>; readonly port: UndoPort }
): Finding | undefined {
  for (const entry of tape) {
    const call = calls.get(entry.seq)
    if (entry.undo === undefined || call === undefined) continue
    const { effect, body: response } = entry
    const compensation = block.compensate ?? port.provider(effect)?.compensate
    const again =
      compensation === undefined
        ? null
        : undoOf(compensation, { effect, request: call.request ?? null, response })
    const differs = differing(UNDO_FIELD, again, entry.undo)
    const provider = block.compensate === undefined ? effect : undefined
    const finding = port.workedOut({ entry, provider, finding: differs })
    if (finding !== undefined) return finding
  }
  return undefined
}
