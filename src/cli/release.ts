import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { refusalIn } from './frame/intent.js'
import { openSession } from './frame/session.js'
import { text } from './frame/text.js'

/** `tally release RUN`: lets a quarantined run continue under the registered code (K10). */
export async function release(
  frame: Frame,
  runId: string,
  options: { readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const session = await openSession(frame, 'run', { config: options.config })
  try {
    const payload = { run: runId }
    const reply = await session.client.request('intent', { action: 'system.release', payload })
    output.document('intent', reply)
    if (reply.type !== 'dapp') {
      output.line(text`${output.paint('red', 'not released')} ${runId}: ${refusalIn(reply)}`)
      return exitCodes.failed
    }
    output.line(text`${output.paint('green', 'released')} ${runId}, receipt ${reply.receipt ?? ''}`)
    return exitCodes.done
  } finally {
    await session.close()
  }
}
