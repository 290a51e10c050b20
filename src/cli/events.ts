import { cliError, type Json } from '../core/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { openSession } from './frame/session.js'

/**
 * `tally events RUN`: what the journal of a workflow's run says, in the words of AIS's engines. An
 * export: nothing is read in again, and what the ledger keeps private stays private.
 */
export async function events(
  frame: Frame,
  runId: string,
  options: { readonly checkpoint?: boolean; readonly config?: string }
): Promise<ExitCode> {
  const { output } = frame
  const session = await openSession(frame, 'read', { config: options.config })
  try {
    const entries: Json[] = []
    for await (const { entry } of session.client.stream('journal', { id: runId })) {
      entries.push(entry as Json)
    }
    if (entries.length === 0) {
      throw cliError('cli.usage', { problem: `the run ${runId} has no journal` })
    }
    const { engineCheckpoint, engineEvents } = await import('../workflow/index.js')
    if (options.checkpoint === true) {
      const checkpoint = engineCheckpoint(entries, { events: true })
      output.document('checkpoint', checkpoint)
      output.file(`${JSON.stringify(checkpoint, null, 2)}\n`)
      return exitCodes.done
    }
    const records = engineEvents(entries)
    output.document('events', { run: runId, events: records })
    output.file(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    return exitCodes.done
  } finally {
    await session.close()
  }
}
