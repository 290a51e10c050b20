import { limits } from '../../core/index.js'
import { differing, type Finding, firstOf, unexpected } from '../finding.js'
import { failedResponse, type Response, reasons } from '../protocol.js'
import type { Settled } from '../run/entries.js'
import { timeoutResponse } from '../run/outcome.js'
import { confirmationOf } from '../run/waits.js'
import type { AskedAttempt } from './open.js'
import { type FailureAgain, skipped } from './redo.js'
import type { ReplayState } from './replay-state.js'

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
  if (isUnconfirmed(attempt)) return compared(denialFinding(attempt, entry))
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
function isUnconfirmed({ ask, block, past }: AskedAttempt): boolean {
  return confirmationOf(ask, block) !== undefined && !past.recorded.has(0)
}

/** A person has refused: who says so is a claim, and the rest follows. */
function denialFinding(attempt: AskedAttempt, { response, at }: Settled): Finding | undefined {
  const { by = null, at: deniedAt = null } = response.details ?? {}
  const wait = attempt.waits.get(0)
  const isInTime = typeof deniedAt === 'number' && deniedAt <= at && deniedAt >= (wait?.at ?? at)
  return firstOf(
    differing('journal.response', failedResponse(reasons.denied, { by, at: deniedAt }), response),
    wait === undefined ? unexpected('journal.response', 'a wait for it', 'none') : undefined,
    isInTime ? undefined : unexpected('journal.response.details.at', `up to ${at}`, `${deniedAt}`)
  )
}

function isSame(expected: Response, actual: Response): boolean {
  return differing('', expected, actual) === undefined
}

function compared(finding: Finding | undefined): FailureAgain {
  return finding === undefined ? { kind: 'same' } : { kind: 'finding', finding }
}
