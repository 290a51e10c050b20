import { coreError, type Hash, ledgerError } from '../../core/index.js'
import type { GivenNote } from '../../ledger/index.js'
import type { Registrations, ServiceRequests, VerificationProgress } from '../../runtime/index.js'
import { ownerClient, type ServiceClient } from './client.js'
import type { Frame } from './frame.js'
import { atHolder, once } from './holder.js'
import { givenPassphrase } from './passphrase.js'
import type { Progress } from './progress.js'
import { configOf } from './session.js'

export type Report = ServiceRequests['verify']['result']

/**
 * Verifies a ledger where it is: in the service that holds it, or here by its bytes, also where it
 * would not open. No key is needed; where the key file can be read without asking, codes are
 * checked as well. Only executing again needs the configuration.
 */
export async function verifyThere(
  frame: Frame,
  options: {
    readonly notes: readonly GivenNote[]
    /** How often every step is executed again. */
    readonly executions: 0 | 1 | 2
    readonly config: string | undefined
    /** Paths of all archives of the ledger. */
    readonly archives?: readonly string[]
  }
): Promise<Report> {
  const { notes, executions, config, archives: paths = [] } = options
  const archives = paths.length === 0 ? {} : { archives: paths }
  const replay = executions > 0
  let code: Registrations | undefined
  return atHolder<Report>(frame, {
    owner: (owner) =>
      once(owner, (one) =>
        verifyByOwner(frame, ownerClient(one), { notes, replay, executions, ...archives })
      ),
    here: async (directory) => {
      if (replay) code ??= await configOf(frame, config)
      const { verifyLocation } = await import('../../runtime/index.js')
      const { identity } = frame
      const keyed = { passphrase: givenPassphrase(frame) }
      const asked = { notes, code, executions, identity, keyed, ...archives }
      return frame.output.withProgress((report) => {
        const onProgress = report && ((progress: VerificationProgress) => report(barOf(progress)))
        return verifyLocation(directory, { ...asked, onProgress })
      })
    }
  })
}

function verifyByOwner(
  frame: Frame,
  client: ServiceClient,
  asked: ServiceRequests['verify']['params'] & { readonly executions: number }
): Promise<Report> {
  return frame.output.withProgress(async (report) => {
    if (report === undefined) return client.request('verify', asked)
    const { executions, ...rest } = asked
    // Without executing again there is nothing to count.
    const params = executions > 1 ? asked : rest
    for await (const progress of client.stream('verifying', params)) {
      // The last one carries the report, as `verify` gives it.
      if (progress.report !== undefined) return progress.report as unknown as Report
      report(barOf(progress))
    }
    throw coreError('core.internal', { problem: 'a verification ended without a report' })
  })
}

function barOf({ phase, done, total }: VerificationProgress): Progress {
  const label = phase === 'executing' ? 'executing again' : 'verifying'
  return { label, done, total, unit: 'commits' }
}

/** Does one receipt again, where the ledger is. Throws `receipt.not_found`. */
export async function replayThere(
  frame: Frame,
  options: { readonly which: Hash | number; readonly config: string | undefined }
): Promise<ServiceRequests['replay']['result']> {
  const { which, config } = options
  let code: Registrations | undefined
  return atHolder<ServiceRequests['replay']['result']>(frame, {
    owner: (owner) => {
      const params = typeof which === 'number' ? { index: which } : { hash: which }
      return once(owner, (one) => ownerClient(one).request('replay', params))
    },
    here: async (directory) => {
      code ??= await configOf(frame, config)
      const { replayLocation } = await import('../../runtime/index.js')
      const { identity } = frame
      const replayed = await replayLocation(directory, { which, code, identity })
      if (replayed === undefined) throw ledgerError('receipt.not_found', { which })
      return replayed
    }
  })
}
