import type { Call, FunctionCall, RecordedProvider } from '../../code/index.js'
import { missedFinding } from './body-work.js'
import { type FailureOptions, isUnconfirmed, readsChanged } from './failure-work.js'
import { differing, type Finding, unexpected } from './finding.js'
import { executeAttempt } from './leaf-work.js'
import { onOverlay } from './overlay-again.js'
import { type AskedAttempt, type FailureAgain, lacksBody, Seen, skipped } from './redo.js'
import type { ReplayState } from './replay-state.js'

/** How to run what has not settled, or what had not before an entry that is not taken. */
export type OpenOptions = FailureOptions & {
  /** Limits it to some attempts. */
  readonly isWanted?: (attempt: AskedAttempt) => boolean
  /** Who did it, where the attempt is of the kernel. */
  readonly provider?: RecordedProvider | undefined
}

/**
 * Runs an attempt that has not settled as far as its answers lead, and compares what it asks for
 * then with what the journal says it has asked for: its waits and its unanswered writes. Undefined
 * where its code has not run.
 */
export async function openAgain(
  state: ReplayState,
  attempt: AskedAttempt,
  { heard, provider, ...options }: OpenOptions
): Promise<FailureAgain | undefined> {
  if (isUnconfirmed(attempt)) return undefined
  const { ask, at, block, past } = attempt
  if (block.kernel !== undefined && provider === undefined)
    return skipped('an intent that has not ended')
  const recordedResults = past.recorded.whole()
  const withheld = recordedResults.find(({ body }) => body === undefined)
  if (withheld !== undefined) return lacksBody(`a response to ${withheld.effect}`)
  const redo = { ...options, runId: state.runId, base: state.base }
  const opened = state.overlayAround(ask.path)
  const around = opened && (await state.overlays.upTo(opened, redo))
  if (around?.stopped !== undefined) return around.stopped
  const seen = new Seen()
  const below =
    around === undefined
      ? seen.through(options.below)
      : onOverlay(around.overlay, { ...redo, seen })
  const made = new Map<number, Call>()
  const hear = (call: Call) => {
    made.set(call.seq, call)
    heard?.(call)
  }
  const again = { ...redo, below, at, recordedResults, provider, heard: hear }
  const executed = await executeAttempt(attempt, again)
  const finding =
    missedFinding(attempt.called ?? noCalls, made) ??
    (executed.kind === 'executed'
      ? endFinding(state, executed.outcome)
      : executed.isUnanswered
        ? askedFinding(state, attempt, executed.calls)
        : executed.finding)
  if (finding === undefined) return { kind: 'same' }
  if (seen.isWithheld(options.below)) return lacksBody('state that it reads')
  return readsChanged(attempt, { overlay: opened, seen, below: options.below })
    ? skipped('state that it reads has changed meanwhile')
    : { kind: 'finding', finding }
}

const noCalls: ReadonlyMap<number, FunctionCall> = new Map()

/** Code that ends where the run is parked has not come to what it waits for. */
function endFinding(
  { isParked }: ReplayState,
  outcome: { readonly ok: boolean; readonly text?: string; readonly reason?: string }
): Finding | undefined {
  // Of an interrupted run the end may be what was not written any more.
  if (!isParked) return undefined
  const computed = outcome.ok ? `the result ${outcome.text}` : `the failure ${outcome.reason}`
  return unexpected('journal.wait', computed, 'a wait')
}

function askedFinding(
  { isParked }: ReplayState,
  { past, waits, called }: AskedAttempt,
  calls: ReadonlyMap<number, Call>
): Finding | undefined {
  for (const [seq, wait] of waits) {
    if (seq === 0 || past.recorded.has(seq)) continue
    const call = calls.get(seq)
    if (call?.requestHash === wait.requestHash) continue
    const finding = differing('journal.wait.request', call?.request, wait.request)
    return finding ?? unexpected('journal.wait', shown(call), wait.reason)
  }
  for (const [seq, { effect, requestHash }] of past.requested) {
    if (past.recorded.has(seq)) continue
    const call = calls.get(seq)
    if (call?.requestHash === requestHash) continue
    return unexpected(`requested.${seq}`, shown(call), `${effect} ${requestHash}`)
  }
  if (!isParked) return undefined
  for (const [seq, call] of calls) {
    const isAsked = waits.has(seq) || past.requested.has(seq) || called?.has(seq) === true
    if (!isAsked && !past.recorded.has(seq))
      return unexpected(`sealed.${seq}`, shown(call), 'nothing more')
  }
  return undefined
}

function shown(call: Call | undefined): string {
  return call === undefined ? 'no such call' : `${call.effect} ${call.requestHash}`
}
