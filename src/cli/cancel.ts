import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { statusText } from './frame/render.js'
import { openSession } from './frame/session.js'
import { text } from './frame/text.js'

/** `tally cancel RUN`: ends a run; effects that were sent are waited for. */
export async function cancel(
  frame: Frame,
  runId: string,
  options: { readonly reason?: string; readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const session = await openSession(frame, 'run', { config: options.config })
  try {
    const reason = options.reason === undefined ? {} : { reason: options.reason }
    const view = await session.client.request('cancel', { id: runId, ...reason })
    output.document('run', view)
    output.line(text`${statusText(output.paint, view.status)} ${runId}`)
    return view.status === 'cancelled' ? exitCodes.done : exitCodes.failed
  } finally {
    await session.close()
  }
}
