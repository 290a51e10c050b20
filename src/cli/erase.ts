import type { ErasedSubject } from '../runtime/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { refusalIn } from './frame/intent.js'
import { openSession } from './frame/session.js'
import { text } from './frame/text.js'

/**
 * `tally erase SUBJECT`: destroys the key of a subject, under which its runs were kept. With
 * `--dry-run` says what that would erase, and what it cannot.
 */
export async function erase(
  frame: Frame,
  subject: string,
  options: { readonly dryRun?: boolean; readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const { dryRun = false, config } = options
  const session = await openSession(frame, 'sign', { config })
  try {
    const payload = { subject, ...(dryRun ? { dryRun } : {}) }
    const reply = await session.client.request('intent', { action: 'system.erase', payload })
    output.document('erase', reply)
    if (reply.type !== 'dapp') {
      output.line(text`${output.paint('red', 'not erased')} ${subject}: ${refusalIn(reply)}`)
      return exitCodes.failed
    }
    // What the owner of the ledger answers of this intent.
    const { runs, entries, archived, stateKeys, schedules, kept } =
      reply as unknown as ErasedSubject
    const done = dryRun ? 'would be erased' : 'erased'
    output.line(text`${output.paint('green', done)}: ${runs} runs with ${entries} entries`)
    if (archived > 0) output.line(text`${archived} of them in archives, under the same key`)
    for (const name of schedules) output.line(text`begins nothing any more: schedule ${name}`)
    for (const key of stateKeys) output.line(text`not erased: the state entry ${key}`)
    for (const what of kept) output.line(text`not erased: ${what}`)
    return exitCodes.done
  } finally {
    await session.close()
  }
}
