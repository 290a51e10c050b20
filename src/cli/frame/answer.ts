import { checkWait, cliError, type Json } from '../../core/index.js'
import type { KeySignature } from '../../identity/index.js'
import type { AnswerAction } from '../../runtime/index.js'
import { followRun } from './follow.js'
import type { ExitCode, Frame } from './frame.js'
import { approverLines, nodeName, type Wait } from './render.js'
import type { Session } from './session.js'
import { takeOver } from './take-over.js'
import { text } from './text.js'

export interface AnswerOptions {
  readonly by?: string
  /** What the caller was shown; the one of the wait when it is not given. */
  readonly digest?: string
  readonly wait?: boolean
  readonly config?: string
  /** Key file of an approver, who signs the answer. */
  readonly as?: string
  /** Given again with the same id, the command changes nothing (W10). */
  readonly commandId?: string
}

/**
 * Shows a wait, ends it, and follows what comes of that. The digest of what is shown goes along, so
 * that nothing else is approved (W7). Closes the session.
 */
export async function answer(
  frame: Frame,
  session: Session,
  options: AnswerOptions & {
    readonly runId: string
    readonly token: string | undefined
    readonly action: AnswerAction
    readonly value?: Json | undefined
    /** What an approver has signed elsewhere; only where the wait names approvers. */
    readonly approval?: KeySignature
    /** Whether a wait can be the one meant when no token was given. */
    readonly isMeant: (wait: Wait) => boolean
  }
): Promise<ExitCode> {
  const { runId, action, by, value, config, commandId } = options
  const isPatient = options.wait === true
  const following = {
    runId,
    isPatient,
    takeOver: () => takeOver(frame, { runId, isPatient, config })
  }
  let wait: Wait
  let approval = options.approval
  const { as: keyFile } = options
  try {
    if (commandId !== undefined) {
      const earlier = await earlierCommand(session, runId, commandId)
      if (earlier !== undefined) {
        frame.output.log(text`command ${commandId} was given before: ${earlier}`)
        const events = session.client.stream('resume', { id: runId, follow: isPatient })
        return followRun(frame, session, { ...following, events })
      }
    }
    wait = await waitOf(frame, session.client, options)
    // A file that any key could have signed is no answer of the owner.
    if (approval !== undefined && wait.approvers === undefined) {
      const problem =
        'its wait names no approvers, so any key could have signed; see "tally approve"'
      throw cliError('cli.no_wait', { runId, problem })
    }
    showAnswer(frame, { runId, wait, action })
    if (keyFile !== undefined) {
      const { signedWith } = await import('./approver-key.js')
      const { token, digest } = wait
      const said = { token, digest: options.digest ?? digest, action, value: value ?? null }
      const { key, signature } = await signedWith(frame, keyFile, { wait, answer: said })
      approval = { key, signature }
    }
  } catch (error) {
    await session.close()
    throw error
  }
  const events = session.client.stream('answer', {
    id: runId,
    token: wait.token,
    digest: options.digest ?? wait.digest,
    action,
    follow: isPatient,
    ...(by === undefined ? {} : { by }),
    ...(value === undefined ? {} : { value }),
    ...(approval === undefined ? {} : { approval }),
    ...(commandId === undefined ? {} : { commandId })
  })
  return followRun(frame, session, { ...following, events })
}

/** What the run did for the command with this id, if it has had it. */
async function earlierCommand(
  { client }: Session,
  runId: string,
  commandId: string
): Promise<string | undefined> {
  const { commandIn } = await import('../../runtime/index.js')
  for await (const { entry } of client.stream('journal', { id: runId })) {
    const earlier = commandIn(entry)
    if (earlier?.commandId === commandId) return earlier.action
  }
  return undefined
}

/** The wait with a token, or the only one that can be meant. Throws `cli.no_wait`. */
export async function waitOf(
  { output }: Frame,
  client: Session['client'],
  options: {
    readonly runId: string
    readonly token: string | undefined
    readonly action: AnswerAction
    readonly isMeant: (wait: Wait) => boolean
  }
): Promise<Wait> {
  const { runId, token, action, isMeant } = options
  const { waits, status, live, notChecked } = await client.request('show', { id: runId })
  for (const one of notChecked) output.log(text`not checked: ${one}`)
  if (status === 'running' && !live) {
    const problem = `it was interrupted; take it up first with "tally resume ${runId}"`
    throw cliError('cli.no_wait', { runId, problem })
  }
  if (token !== undefined) {
    const named = waits.find((wait) => wait.token === token)
    if (named !== undefined) return named
    const isNode = waits.some(({ path }) => path === token || nodeName(path) === token)
    const problem = isNode
      ? `${token} is the name of a node, and an answer names a token`
      : `no open wait has the token ${token}; it may have been answered already`
    throw cliError('cli.no_wait', { runId, problem })
  }
  const meant = waits.filter(isMeant)
  const [only] = meant
  if (only !== undefined && meant.length === 1) return only
  if (meant.length > 1) throw cliError('cli.ambiguous_wait', { runId, count: meant.length })
  throw cliError('cli.no_wait', { runId, problem: `nothing to ${action}; it is ${status}` })
}

function showAnswer(
  frame: Frame,
  { runId, wait, action }: { runId: string; wait: Wait; action: AnswerAction }
): void {
  const { output } = frame
  checkWait(runId, wait)
  output.document('answer', { action, wait })
  output.line(text`${output.paint('bold', action)} ${nodeName(wait.path)}: ${wait.reason}`)
  // Whole, however long: this is what the answer is bound to.
  output.line(text`  ${JSON.stringify(wait.request)}`)
  output.line(text`  digest ${wait.digest}`)
  for (const line of approverLines(wait)) output.line(line)
}
