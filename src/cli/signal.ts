import type { Json } from '../core/index.js'
import { readJson } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { openSession } from './frame/session.js'
import { text } from './frame/text.js'

/**
 * `tally signal RUN NAME`: sends a run a signal, which it takes when it asks for one of that name.
 * Returns once the run has it on disk; what the run does then is not followed.
 */
export async function signal(
  frame: Frame,
  runId: string,
  name: string,
  options: {
    readonly value?: string
    readonly id?: string
    readonly by?: string
    readonly config?: string
  }
): Promise<ExitCode> {
  const { output } = frame
  const value: Json = await readJson(frame, options.value ?? 'null', '--value')
  const session = await openSession(frame, 'run', { config: options.config })
  try {
    const outcome = await session.client.request('signal', {
      id: runId,
      name,
      value,
      ...(options.id === undefined ? {} : { signalId: options.id }),
      ...(options.by === undefined ? {} : { by: options.by })
    })
    output.document('signal', { run: runId, name, ...outcome })
    if (outcome.accepted) {
      const how = outcome.repeated === true ? 'was sent before' : 'sent'
      output.line(text`${output.paint('green', how)} ${name} to ${runId}`)
      return exitCodes.done
    }
    const problem = outcome.problem === undefined ? '' : `: ${outcome.problem}`
    output.line(text`${output.paint('red', 'refused')} ${outcome.reason}${problem}`)
    return exitCodes.failed
  } finally {
    await session.close()
  }
}
