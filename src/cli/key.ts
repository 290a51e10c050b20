import type { Json } from '../core/index.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { askIntent, showReply } from './frame/intent.js'
import { openSession } from './frame/session.js'

/** `tally key rotate`: a new key signs from now on; the old one keeps a file of its own (K2). */
export async function rotateKey(frame: Frame): Promise<ExitCode> {
  const session = await openSession(frame, 'sign')
  return askIntent(frame, session, { action: 'system.key.rotate' })
}

/**
 * `tally key revoke [KEY]`: says for good that a replaced key is not to be trusted, and removes its
 * file. Without a key it is the one in force, which is rotated first.
 */
export async function revokeKey(frame: Frame, given: string | undefined): Promise<ExitCode> {
  const session = await openSession(frame, 'sign')
  let publicKey: Json = given ?? null
  if (given === undefined) {
    const rotated = await session.client.request('intent', { action: 'system.key.rotate' })
    const code = showReply(frame, rotated)
    if (rotated.type !== 'dapp') {
      await session.close()
      return code
    }
    publicKey = rotated['replaced'] ?? null
  }
  return askIntent(frame, session, { action: 'system.key.revoke', payload: { publicKey } })
}
