import { timeText } from '../core/index.js'
import type { RunSummary } from '../runtime/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { showUnchecked, statusText, table } from './frame/render.js'
import { withSession } from './frame/session.js'
import { text } from './frame/text.js'

/** `tally runs`: every run of the ledger. */
export async function runs(frame: Frame, options: { readonly status?: string }): Promise<ExitCode> {
  const { output } = frame
  return withSession(frame, 'read', async ({ client }) => {
    const found: RunSummary[] = []
    for await (const one of client.stream('runs', {})) {
      if (options.status !== undefined && one.status !== options.status) continue
      output.document('run', one)
      await output.ready()
      if (!output.isJson) found.push(one)
    }
    const rows = found.map(({ id, name, status, updatedAt, waits, quarantined, problem }) => [
      id,
      quarantined ? output.paint('red', 'quarantined') : statusText(output.paint, status),
      name,
      timeText(updatedAt),
      problem ?? (waits.length === 0 ? '' : `${waits.length} open`)
    ])
    for (const line of table(rows)) output.line(line)
    const notChecked = new Set(found.flatMap((one) => one.notChecked))
    showUnchecked(frame, { notChecked: [...notChecked] })
    if (found.length === 0 && !output.isJson) output.log(text`no runs`)
    return exitCodes.done
  })
}
