import { type AnswerOptions, answer } from './frame/answer.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { openSession } from './frame/session.js'

/** `tally deny RUN [TOKEN]`: refuses a wait, bound to what it shows. */
export async function deny(
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
    action: 'deny',
    isMeant: ({ actions }) => actions.includes('deny')
  })
}
