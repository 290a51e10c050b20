import type { Json } from '../../core/index.js'
import { differing, type Finding } from '../finding.js'
import type { Settled } from '../pump/entries.js'
import { endedFromOutside } from '../pump/failing.js'
import { failureResponse } from '../pump/replies.js'
import { bare } from '../pump/unit.js'
import { type Below, executeAttempt } from './leaf-work.js'
import type { RunState } from './run-state.js'

/** What executing an attempt that had failed again came to. */
export type FailureAgain =
  /** It failed again, with the same reason and details. */
  | { readonly kind: 'same' }
  | { readonly kind: 'finding'; readonly finding: Finding }
  /** Not executed, or not to be compared, and why. */
  | { readonly kind: 'skipped'; readonly why: string }

/**
 * Executes an attempt of the kernel that failed again (K8): its code, its answers and the state
 * are known, so the failure must come out the same. Failures that something outside brought about
 * (a deadline, a person, a killed thread, another unit of work) are not the code's.
 */
export async function failureAgain(
  state: RunState,
  given: {
    readonly entry: Settled
    readonly principal: Json
    readonly below: Below
    readonly executions: number
  }
): Promise<FailureAgain> {
  const { entry, principal, below, executions } = given
  const { response, provider } = entry
  const attempt = state.attemptAt(entry)
  if (attempt?.block.kernel === undefined) return skipped('blocks of documents are not asked again')
  if (provider === undefined) return skipped('nobody was chosen to do it')
  if (state.scopeAround(entry.path) !== undefined) return skipped('its overlay was dropped')
  const { tape } = attempt.past
  if (endedFromOutside(response, tape)) return skipped(`${response.reason}: not the code's doing`)
  const withheld = tape.find(({ body }) => body === undefined)
  if (withheld !== undefined) return skipped(`a response to ${withheld.effect} is withheld`)
  const { runId, base } = state
  const at = attempt.at
  const options = { runId, base, principal, executions, below, at, tape, provider }
  for (let time = 0; time < executions; time += 1) {
    const executed = await executeAttempt(attempt, options)
    if (executed.kind === 'finding') return executed
    const { outcome } = executed
    const again = outcome.ok ? outcome.text : bare(failureResponse(outcome))
    const finding = differing('journal.response', again, response)
    if (finding !== undefined) return { kind: 'finding', finding }
  }
  return { kind: 'same' }
}

function skipped(why: string): FailureAgain {
  return { kind: 'skipped', why }
}
