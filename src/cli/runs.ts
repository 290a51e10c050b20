import { timeText } from '../core/index.js'
import type { RunLine, ShownStatus } from '../runtime/index.js'
import { countOf } from './frame/count.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { showUnchecked, statusText, table } from './frame/render.js'
import { type Session, withSession } from './frame/session.js'
import { text } from './frame/text.js'

export interface RunsOptions {
  readonly status?: string
  readonly name?: string
  readonly tag?: string
  readonly parent?: string
  readonly queue?: string
  readonly limit?: string
}

/** `tally runs`: the runs of the ledger, newest first. */
export async function runs(frame: Frame, options: RunsOptions): Promise<ExitCode> {
  const { output } = frame
  const limit = options.limit === undefined ? undefined : countOf(options.limit, '--limit')
  return withSession(frame, 'read', async ({ client }) => {
    const found: RunLine[] = []
    for await (const one of listed(client, options, limit)) {
      output.document('run', one)
      await output.ready()
      if (!output.isJson) found.push(one)
    }
    const rows = found.map(({ id, name, status, updatedAt, waits, quarantined, ...line }) => [
      id,
      quarantined ? output.paint('red', 'quarantined') : statusText(output.paint, status),
      name,
      timeText(updatedAt),
      line.problem ?? line.failure ?? standing(waits.length, line.queued?.name)
    ])
    for (const line of table(rows)) output.line(line)
    const notChecked = new Set(found.flatMap((one) => one.notChecked))
    showUnchecked(frame, { notChecked: [...notChecked] })
    if (found.length === 0 && !output.isJson) output.log(text`no runs`)
    return exitCodes.done
  })
}

function standing(waits: number, queue: string | undefined): string {
  if (queue !== undefined) return `queued in ${queue}`
  return waits === 0 ? '' : `${waits} open`
}

/** Page by page, as many as are wanted. */
async function* listed(
  client: Session['client'],
  { status, name, tag, parent, queue }: RunsOptions,
  limit: number | undefined
): AsyncGenerator<RunLine> {
  const filter = {
    // The service refuses a status that it does not know.
    ...(status === undefined ? {} : { status: status as ShownStatus }),
    ...(name === undefined ? {} : { name }),
    ...(tag === undefined ? {} : { tag }),
    ...(parent === undefined ? {} : { parent }),
    ...(queue === undefined ? {} : { queued: queue })
  }
  let left = limit ?? Number.POSITIVE_INFINITY
  for (let cursor: string | null | undefined; cursor !== null && left > 0; ) {
    const place = cursor === undefined ? {} : { cursor }
    const page = await client.request('find', { ...filter, ...place })
    for (const one of page.items.slice(0, left)) yield one
    left -= page.items.length
    cursor = page.next
  }
}
