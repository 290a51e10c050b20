import type { JournalEntry, WriteOutside } from '../block/index.js'
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
    const { client } = session
    const reason = options.reason === undefined ? {} : { reason: options.reason }
    const view = await client.request('cancel', { id: runId, ...reason })
    const inDoubt = await doubtsOf(client, runId)
    output.document('run', { ...view, ...(inDoubt === undefined ? {} : { inDoubt }) })
    output.line(text`${statusText(output.paint, view.status)} ${runId}`)
    if (inDoubt !== undefined) {
      output.line(text`ended without its code: nothing was performed, and nothing undone`)
      for (const { effect, path, key } of inDoubt) {
        output.line(text`in doubt ${effect} of ${path} (key ${key})`)
      }
    }
    return view.status === 'cancelled' ? exitCodes.done : exitCodes.failed
  } finally {
    await session.close()
  }
}

/**
 * What a run that ended without its code has sent, and may have done; undefined of one that its
 * code has ended.
 */
async function doubtsOf(
  client: Session['client'],
  runId: string
): Promise<readonly WriteOutside[] | undefined> {
  const { WritesOutside } = await import('../block/index.js')
  const sent = new WritesOutside()
  let isWithoutCode = false
  for await (const { entry } of client.stream('journal', { id: runId })) {
    // The journal gives back what the pump has written.
    const read = entry as unknown as JournalEntry
    sent.take(read)
    if (read.k === 'cancel') isWithoutCode = read.withoutCode === true
  }
  return isWithoutCode ? sent.all.filter(({ state }) => state === 'unknown') : undefined
}
