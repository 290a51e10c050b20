import { signal } from '@preact/signals'
import type { VerificationReport } from '../../../audit/index.js'
import type { GivenNote } from '../../../ledger/index.js'
import type { VerificationProgress } from '../../../runtime/index.js'
import { type ApiProblem, ask, asking } from '../client/api.js'
import { problemOf } from '../client/query.js'
import { say } from '../parts/basics.js'

export interface Verification {
  readonly isRunning: boolean
  readonly progress: Pick<VerificationProgress, 'phase' | 'done' | 'total'> | null
  readonly report: VerificationReport | null
  readonly problem: ApiProblem | null
}

const none: Verification = { isRunning: false, progress: null, report: null, problem: null }

/** The verification that this page asked for: nothing is shown as verified that was not. */
export const verification = signal<Verification>(none)

/** Verifies all of the ledger, and executes it again where `replay` says so. */
export async function verify(
  options: { readonly replay?: boolean; readonly notes?: readonly GivenNote[] } = {}
): Promise<void> {
  if (verification.value.isRunning) return
  verification.value = { ...none, isRunning: true }
  try {
    for await (const { phase, done, total, report } of asking('verifying', options)) {
      const found = report === undefined ? null : (report as unknown as VerificationReport)
      const progress = { phase, done, total }
      verification.value = { isRunning: true, progress, report: found, problem: null }
    }
    const { report } = verification.value
    verification.value = { ...verification.value, isRunning: false }
    say(report?.ok === true ? 'Verified' : 'The verification failed')
  } catch (thrown) {
    const problem = problemOf(thrown)
    if (problem.code === 'service.unknown_method') await verifyAtOnce(options)
    else verification.value = { ...none, problem }
  }
}

/** An owner of an earlier version verifies without saying how far it is. */
async function verifyAtOnce(options: Parameters<typeof verify>[0]): Promise<void> {
  try {
    verification.value = { ...none, report: await ask('verify', { ...options }) }
  } catch (thrown) {
    verification.value = { ...none, problem: problemOf(thrown) }
  }
}
