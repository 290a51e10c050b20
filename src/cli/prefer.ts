import type { ExitCode, Frame } from './frame/frame.js'
import { askIntent } from './frame/intent.js'
import { openSession } from './frame/session.js'

/**
 * `tally prefer SUBJECT [PACKAGE]`: who answers an action; without a package, no one is preferred.
 */
export async function prefer(
  frame: Frame,
  subject: string,
  provider: string | undefined
): Promise<ExitCode> {
  const session = await openSession(frame, 'run')
  return askIntent(frame, session, {
    action: 'system.prefer',
    payload: { subject, provider: provider ?? null }
  })
}
