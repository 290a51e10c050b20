import { cliError } from '../core/index.js'
import type { AnswerAction, RunView } from '../runtime/index.js'
import { type AnswerOptions, answer } from './frame/answer.js'
import { readJson } from './frame/files.js'
import { followRun } from './frame/follow.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { openSession } from './frame/session.js'
import { takeOver } from './frame/take-over.js'

export interface ResumeOptions extends AnswerOptions {
  readonly action?: string
  readonly value?: string
}

const actions: readonly AnswerAction[] = ['resume', 'retry', 'patch', 'skip', 'abort']

/**
 * `tally resume RUN`: resumes an interrupted run. With a token, a value or an action it ends a
 * wait: it gives the value that was waited for, or decides about a failure.
 */
export async function resume(
  frame: Frame,
  runId: string,
  token: string | undefined,
  options: ResumeOptions
): Promise<ExitCode> {
  const action = actionOf(options.action)
  const given = options.value
  const value = given === undefined ? undefined : await readJson(frame, given, '--value')
  const session = await openSession(frame, 'run', { config: options.config })
  const isPatient = options.wait === true
  const isAnswer = token !== undefined || given !== undefined || options.action !== undefined
  if (isAnswer) {
    const isMeant = ({ actions }: RunView['waits'][number]) => actions.includes(action)
    return answer(frame, session, { ...options, runId, token, action, value, isMeant })
  }
  const events = session.client.stream('resume', { id: runId, follow: isPatient })
  const { config } = options
  return followRun(frame, session, {
    runId,
    isPatient,
    events,
    takeOver: () => takeOver(frame, { runId, isPatient, config })
  })
}

function actionOf(given: string | undefined): AnswerAction {
  const action = actions.find((one) => one === (given ?? 'resume'))
  if (action !== undefined) return action
  throw cliError('cli.usage', { problem: `--action is one of ${actions.join(', ')}` })
}
