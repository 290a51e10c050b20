import { type AnswerOptions, answer } from './frame/answer.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { openSession } from './frame/session.js'

/** `tally approve RUN [TOKEN]`: lets a wait continue, bound to what it shows. */
export async function approve(
  frame: Frame,
  runId: string,
  token: string | undefined,
  options: AnswerOptions
): Promise<ExitCode> {
  const session = await openSession(frame, 'run', { config: options.config })
  return answer(frame, session, {
    ...options,
    runId,
    token,
    action: 'approve',
    isMeant: ({ actions }) => actions.includes('approve')
  })
}
