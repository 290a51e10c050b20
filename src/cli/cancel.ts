import { isJsonObject } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { statusText } from './frame/render.js'
import { openSession, type Session } from './frame/session.js'
import { text } from './frame/text.js'

/**
 * `tally cancel RUN`: ends a run; effects that were sent are waited for. One whose code is not here
 * ends without it, and what has no known outcome is listed.
 */
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
    await showDoubts(frame, session.client, runId)
    return view.status === 'cancelled' ? exitCodes.done : exitCodes.failed
  } finally {
    await session.close()
  }
}

/** What a run that ended without its code has sent and never heard of. */
async function showDoubts(
  { output }: Frame,
  client: Session['client'],
  runId: string
): Promise<void> {
  const sent = new Map<string, string>()
  let isWithoutCode = false
  for await (const { entry } of client.stream('journal', { id: runId })) {
    if (!isJsonObject(entry)) continue
    const { k, path = '', step = 0, seq = 0, requestHash = '', effect = '' } = entry
    const call = [path, step, seq, requestHash].join(' ')
    if (k === 'requested') sent.set(call, `${String(effect)} of ${String(path)}`)
    else if (k === 'sealed') sent.delete(call)
    else if (k === 'cancel') isWithoutCode = entry['withoutCode'] === true
  }
  if (!isWithoutCode) return
  output.line(text`ended without its code: nothing was performed, and nothing undone`)
  for (const what of sent.values()) output.line(text`in doubt ${what}`)
}
