import { isTallyError, limits, systemClock, TallyError } from '../../core/index.js'
import { connectOwner, type GivenNote, inspectLocation } from '../../ledger/index.js'
import type { Registrations, ServiceRequests } from '../../runtime/index.js'
import { ownerClient } from './client.js'
import type { Frame } from './frame.js'
import { configOf, pause } from './session.js'

export type Report = ServiceRequests['verify']['result']

/**
 * Verifies a ledger where it is: in the service that holds it, or here by its bytes alone, without a
 * key and also where it would not open. Only executing again needs the configuration.
 */
export async function verifyThere(
  frame: Frame,
  options: {
    readonly notes: readonly GivenNote[]
    readonly replay: boolean
    readonly config: string | undefined
  }
): Promise<Report> {
  const { directory } = frame
  const { notes, replay } = options
  let code: Registrations | undefined
  for (const end = systemClock.now() + limits.LOCK_WAIT_MS; ; ) {
    const found = await inspectLocation(directory)
    if (found === undefined) throw new TallyError('ledger.not_found', { path: directory })
    const owner = await connectOwner(found.realPath)
    if (owner !== undefined) {
      try {
        return await ownerClient(owner).request('verify', { notes, replay })
      } finally {
        owner.close()
      }
    }
    if (replay) code ??= await configOf(frame, options.config)
    try {
      const { verifyLocation } = await import('../../runtime/index.js')
      return await verifyLocation(directory, { notes, code })
    } catch (error) {
      if (!isTallyError(error, 'ledger.locked') || systemClock.now() >= end) throw error
      await pause(limits.LOCK_POLL_MS)
    }
  }
}
