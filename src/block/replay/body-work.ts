import {
  CALLED_OUT_OF_TURN,
  type Call,
  type FunctionCall,
  failureResponse
} from '../../code/index.js'
import { callBody, callHash } from '../run/body.js'
import { type Called, placeKey, type Returned } from '../run/entries.js'
import type { FailureOptions } from './failure-work.js'
import { differing, type Finding, firstOf, unexpected } from './finding.js'
import { executeAttempt } from './leaf-work.js'
import { type AskedAttempt, type FailureAgain, lacksBody, skipped } from './redo.js'
import type { ReplayState } from './replay-state.js'

/** Code of workflow functions, done again with what their children gave (B12). */

/** Whether the run so far can have led to an entry of a function's code. */
export function bodyFinding(entry: Called | Returned, state: ReplayState): Finding | undefined {
  const attempt = state.attemptAt(entry)
  if (attempt?.called === undefined) {
    return unexpected('journal.place', 'the code of a function', placeKey(entry))
  }
  if (entry.k === 'returned') return undefined
  const { seq } = entry
  const isKnown = attempt.called.has(seq) || attempt.past.recorded.has(seq)
  return isKnown ? unexpected('journal.seq', 'no second call', `${seq}`) : undefined
}

/**
 * Runs the code of a function from its first line with the answers that it got, and compares what
 * it asks for and what it comes to with what the journal says.
 */
export async function bodyAgain(
  state: ReplayState,
  entry: Returned,
  options: FailureOptions
): Promise<FailureAgain> {
  const attempt = state.attemptAt(entry)
  if (attempt === undefined) return { kind: 'same' }
  const recordedResults = attempt.past.recorded.whole()
  const withheld = recordedResults.find(({ body }) => body === undefined)
  if (withheld !== undefined) return lacksBody(`a response to ${withheld.effect}`)
  for (let time = 0; time < options.executions; time += 1) {
    const finding = await executedFinding(state, attempt, { ...options, entry })
    if (finding === undefined) continue
    const isRefused = entry.response.reason === CALLED_OUT_OF_TURN
    return isRefused ? skipped(WAITED_OUTSIDE) : { kind: 'finding', finding }
  }
  return { kind: 'same' }
}

const WAITED_OUTSIDE =
  'the code had waited for something outside ctx, and was refused its next call'

async function executedFinding(
  state: ReplayState,
  attempt: AskedAttempt,
  { entry, ...options }: FailureOptions & { readonly entry: Returned }
): Promise<Finding | undefined> {
  const { runId, base } = state
  const { at } = attempt
  const recordedResults = attempt.past.recorded.whole()
  const calls = new Map<number, Call>()
  const executed = await executeAttempt(attempt, {
    ...options,
    ...{ runId, base, at, recordedResults },
    provider: undefined,
    heard: (call) => calls.set(call.seq, call)
  })
  const other = callsFinding(attempt.called ?? new Map(), calls)
  if (other !== undefined || executed.kind === 'finding') return other ?? findingOf(executed)
  const { outcome } = executed
  const response = outcome.ok
    ? { success: true, data: JSON.parse(outcome.text) as unknown, metadata: {} }
    : failureResponse(outcome)
  return differing('journal.response', response, entry.response)
}

function findingOf(executed: { readonly kind: string; readonly finding?: Finding }) {
  return executed.finding
}

/** What the code asks its children for, against what the journal says that it has asked for. */
function callsFinding(
  recorded: ReadonlyMap<number, FunctionCall>,
  made: ReadonlyMap<number, Call>
): Finding | undefined {
  const missed = missedFinding(recorded, made)
  if (missed !== undefined) return missed
  for (const [seq, call] of made) {
    if (call.kind !== 'child' || recorded.has(seq)) continue
    return firstOf(differing(`called.${seq}`, callBody(call.call), undefined))
  }
  return undefined
}

/** What the journal says that the code has asked its children for, and it does not ask for. */
export function missedFinding(
  recorded: ReadonlyMap<number, FunctionCall>,
  made: ReadonlyMap<number, Call>
): Finding | undefined {
  for (const [seq, call] of recorded) {
    const again = made.get(seq)
    if (again?.requestHash === callHash(call)) continue
    const computed = again?.kind === 'child' ? callBody(again.call) : again?.effect
    const field = `called.${seq}`
    return differing(field, computed, callBody(call)) ?? unexpected(field, 'another', call.kind)
  }
  return undefined
}
