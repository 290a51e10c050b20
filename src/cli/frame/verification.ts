import { isTallyError, limits, systemClock, TallyError } from '../../core/index.js'
import {
  connectOwner,
  type GivenNote,
  inspectLocation,
  type VerificationReport
} from '../../ledger/index.js'
import { ownerClient } from './client.js'
import type { Frame } from './frame.js'
import { pause } from './session.js'

/**
 * Verifies a ledger where it is: in the service that holds it, or here by its bytes alone, without a
 * key and also where it would not open.
 */
export async function verifyThere(
  frame: Frame,
  options: {
    readonly notes: readonly GivenNote[]
    readonly replay: boolean
    readonly config: string | undefined
  }
): Promise<VerificationReport> {
  const { directory } = frame
  const { notes, replay } = options
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
    try {
      const { verifyLocation } = await import('../../runtime/index.js')
      return await verifyLocation(directory, { notes })
    } catch (error) {
      if (!isTallyError(error, 'ledger.locked') || systemClock.now() >= end) throw error
      await pause(limits.LOCK_POLL_MS)
    }
  }
}
