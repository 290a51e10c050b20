import {
  builtInEffects,
  failedResponse,
  failureResponse,
  inputTooLarge,
  type Response,
  reasons
} from '../../code/index.js'
import { limits } from '../../core/index.js'
import type { OverlayEnded, Settled } from '../run/entries.js'
import { timeoutResponse } from '../run/failed-attempts.js'
import { bare } from '../run/unit.js'
import { confirmationOf } from '../run/waits.js'
import { signedFinding } from './answer-checks.js'
import { differing, type Finding, firstOf, unexpected } from './finding.js'
import { type Executed, executeAttempt, type LeafOptions, UNDO_FIELD } from './leaf-work.js'
import { type OverlaySoFar, onOverlay, outermost } from './overlay-again.js'
import {
  type AskedAttempt,
  type FailureAgain,
  type Ground,
  lacksBody,
  type OpenedOverlay,
  Seen,
  skipped
} from './redo.js'
import type { ReplayState } from './replay-state.js'

/** How to do again what failed; state below is that at the entry. */
export type FailureOptions = Omit<
  LeafOptions,
  'runId' | 'base' | 'at' | 'recordedResults' | 'provider' | 'below'
> & { readonly below: Ground }

/**
 * Executes an attempt that failed again (K8): its code, its answers and the state are known, so the
 * failure must come out the same. Failures that something outside brought about (a deadline, a
 * killed thread, another unit of work) are compared as far as the journal goes.
 */
export async function failureAgain(
  state: ReplayState,
  entry: Settled,
  options: FailureOptions
): Promise<FailureAgain> {
  const attempt = state.attemptAt(entry)
  if (attempt === undefined) return skipped('no attempt asked for them')
  const ended = endedByPump(attempt, entry, state)
  if (ended !== undefined) return ended
  const { response, provider } = entry
  const { kernel } = attempt.block
  if (kernel !== undefined && provider === undefined && response.reason !== 'invalid_intent') {
    return skipped('none was chosen to do it')
  }
  const recordedResults = attempt.past.recorded.whole()
  const withheld = recordedResults.find(({ body }) => body === undefined)
  if (withheld !== undefined) return lacksBody(`a response to ${withheld.effect}`)
  const openOverlay = state.overlayAround(entry.path)
  const overlay =
    openOverlay && (await state.overlays.upTo(openOverlay, redoOptions(state, options)))
  if (overlay?.stopped !== undefined) return overlay.stopped
  const seen = new Seen()
  const below =
    overlay === undefined
      ? seen.through(options.below)
      : onOverlay(overlay.overlay, { ...redoOptions(state, options), seen })
  const { at } = attempt
  const { reason = '', details = null } = response
  const failure = { reason, details }
  const again = {
    ...redoOptions(state, options),
    below,
    at,
    recordedResults,
    provider,
    failure
  }
  for (let time = 0; time < options.executions; time += 1) {
    const found = comparedAgain(entry, await executeAttempt(attempt, again))
    if (seen.isWithheld(options.below)) return lacksBody('state that they read')
    if (
      found.kind === 'finding' &&
      isDoubtful(attempt, { entry, overlay: openOverlay, seen, options })
    ) {
      return skipped('state that they read has changed meanwhile')
    }
    if (found.kind !== 'same') return found
  }
  return { kind: 'same' }
}

/**
 * Does the steps of an overlay that was rolled back again: they left no receipt, and what failed
 * depends on them. Undefined when there are none.
 */
export async function rollbackAgain(
  state: ReplayState,
  { path }: OverlayEnded,
  options: FailureOptions
): Promise<FailureAgain | undefined> {
  const openOverlay = state.openOverlays.get(path)
  if (openOverlay === undefined || openOverlay.closing !== undefined) return undefined
  if (openOverlay.steps.length + openOverlay.cancelled.length === 0) return undefined
  const overlay = await state.overlays.upTo(openOverlay, redoOptions(state, options))
  if (overlay.stopped !== undefined) return overlay.stopped
  for (const attempt of openOverlay.cancelled) {
    const finding = await cancelledAgain(attempt, overlay, redoOptions(state, options))
    if (finding !== undefined) return { kind: 'finding', finding }
  }
  return { kind: 'same' }
}

/**
 * Runs an attempt that was cancelled as far as its answers go, for what undoes its writes: it has
 * come to no end that could be compared.
 */
async function cancelledAgain(
  attempt: AskedAttempt,
  { overlay: openOverlay }: OverlaySoFar,
  options: ReturnType<typeof redoOptions>
): Promise<Finding | undefined> {
  const { at, past } = attempt
  const below = onOverlay(openOverlay, options)
  const again = {
    ...options,
    below,
    at,
    recordedResults: past.recorded.whole(),
    provider: undefined
  }
  const executed = await executeAttempt(attempt, again)
  const isAboutUndo = executed.kind === 'finding' && executed.finding.field === UNDO_FIELD
  return isAboutUndo ? executed.finding : undefined
}

function redoOptions({ runId, base }: ReplayState, options: FailureOptions) {
  return { ...options, runId, base }
}

function comparedAgain({ response }: Settled, executed: Executed): FailureAgain {
  if (executed.kind === 'executed') {
    const { outcome } = executed
    const again = outcome.ok ? outcome.text : bare(failureResponse(outcome))
    const finding = differing('journal.response', again, response)
    return finding === undefined ? { kind: 'same' } : { kind: 'finding', finding }
  }
  const { errorType, reason, details } = response
  const { finding, calls } = executed
  if (errorType !== 'NotReversible' && errorType !== 'IntentConflict') {
    return { kind: 'finding', finding }
  }
  // The pump has refused a write: the code must have come to it.
  const { effect = null } = details ?? {}
  for (const call of calls.values()) {
    if (call.kind === 'effect' && call.sideEffects !== 'none' && call.effect === effect) {
      return skipped(`${reason}: a write that was not sent`)
    }
  }
  const none = unexpected('journal.response', 'a write that it asks for', String(effect))
  return { kind: 'finding', finding: none }
}

/**
 * Whether a difference may come from state that others have changed since the attempt read it. A
 * failure of the kernel stands only while its reads do (L10), except a denial.
 */
function isDoubtful(
  attempt: AskedAttempt,
  given: {
    readonly entry: Settled
    readonly overlay: OpenedOverlay | undefined
    readonly seen: Seen
    readonly options: FailureOptions
  }
): boolean {
  const { entry, overlay: openOverlay, seen, options } = given
  if (openOverlay === undefined) {
    const { kernel, past } = { kernel: attempt.block.kernel, past: attempt.past }
    const isDenial =
      entry.response.reason === 'denied' && past.recorded.hasEffect(builtInEffects.wait)
    if (kernel !== undefined && !isDenial) return false
  }
  return readsChanged(attempt, { overlay: openOverlay, seen, below: options.below })
}

/** Whether others have changed what an attempt has read since it was asked for. */
export function readsChanged(
  { asked }: AskedAttempt,
  given: {
    readonly overlay: OpenedOverlay | undefined
    readonly seen: Seen
    readonly below: Ground
  }
): boolean {
  const { overlay, seen, below } = given
  if (overlay === undefined) return seen.hasChanged(below, asked)
  return seen.hasChanged(below, outermost(overlay).asked) || seen.hasChangedAround(overlay, asked)
}

/**
 * Failures that did not come from the code of an attempt: the pump ended it. What the journal says
 * of them is compared; what only a clock or another process could tell is not.
 */
export function endedByPump(
  attempt: AskedAttempt,
  entry: Settled,
  state: ReplayState
): FailureAgain | undefined {
  const { response } = entry
  if (isSame(timeoutResponse(attempt), response)) return timeout(attempt, entry)
  // Older versions gave code what is too large, and what came of it is executed again.
  const tooLarge = inputTooLarge(attempt.payloadText)
  if (tooLarge !== undefined && isSame(failureResponse(tooLarge), response)) return { kind: 'same' }
  if (isUnconfirmed(attempt)) return compared(denialFinding(attempt, entry, state))
  const node = attempt.ask.path
  const tooMany = failedResponse(reasons.maxStepsExceeded, {
    max_steps: limits.RUN_STEPS_MAX,
    node
  })
  if (isSame(tooMany, response)) {
    if (state.steps >= limits.RUN_STEPS_MAX) return { kind: 'same' }
    return compared(unexpected('journal.response', 'fewer steps', `${state.steps} steps`))
  }
  return byOthers(attempt, response)
}

/** What came from other units of work, other processes, or from what stands around the code. */
function byOthers(attempt: AskedAttempt, response: Response): FailureAgain | undefined {
  const { reason, errorType, details } = response
  const isOfKernel = attempt.block.kernel !== undefined
  switch (errorType) {
    case 'IntentConflict': {
      // What was sent, and is not asked for any more: it must have been sent.
      const seq = details?.['seq']
      const isSent = [...attempt.past.sent()].some((sent) => sent.seq === seq)
      if (seq === undefined) return undefined
      if (!isSent) return compared(unexpected('journal.response', 'what was sent', `${seq}`))
      return skipped('intent_conflict: other work has changed what they rest on')
    }
    case 'intent_conflict':
      return skipped('intent_conflict: other work has changed what they rest on')
    case 'DeterminismViolation':
      return skipped('determinism_violation: it shows only where the tripwire is installed')
    default:
      if (isOfKernel && reason === 'infrastructure_failed') {
        return skipped('infrastructure_failed: not the code’s doing')
      }
      if (isOfKernel && reason === 'package_missing') {
        return skipped('package_missing: its code was not there')
      }
      return undefined
  }
}

function timeout({ ask }: AskedAttempt, { at }: Settled): FailureAgain {
  const { deadline } = ask.options
  if (deadline === undefined || at < deadline) {
    const expected = deadline === undefined ? 'no deadline' : `${deadline} or later`
    return compared(unexpected('journal.at', expected, String(at)))
  }
  return skipped('timed_out: a clock ended them')
}

/** Its node wants a confirmation, and none was given: the code has not run. */
export function isUnconfirmed({ ask, block, past }: AskedAttempt): boolean {
  return confirmationOf(ask, block) !== undefined && !past.recorded.has(0)
}

/** A person has refused: a name is a claim, what is signed is checked, and the rest follows. */
function denialFinding(
  attempt: AskedAttempt,
  { response, at }: Settled,
  state: ReplayState
): Finding | undefined {
  const { by = null, at: deniedAt = null } = response.details ?? {}
  const wait = attempt.waits.get(0)
  const isInTime = typeof deniedAt === 'number' && deniedAt <= at && deniedAt >= (wait?.at ?? at)
  return firstOf(
    differing('journal.response', failedResponse(reasons.denied, { by, at: deniedAt }), response),
    wait === undefined ? unexpected('journal.response', 'a wait for it', 'none') : undefined,
    isInTime ? undefined : unexpected('journal.response.details.at', `up to ${at}`, `${deniedAt}`),
    wait && signedFinding(state, wait, { action: 'deny', by })
  )
}

function isSame(expected: Response, actual: Response): boolean {
  return differing('', expected, actual) === undefined
}

function compared(finding: Finding | undefined): FailureAgain {
  return finding === undefined ? { kind: 'same' } : { kind: 'finding', finding }
}
