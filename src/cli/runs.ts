import { timeText } from '../core/index.js'
import type { RunLine, ShownStatus } from '../runtime/index.js'
import { countOf } from './frame/count.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { awaited, showUnchecked, statusText, table } from './frame/render.js'
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
    const rows = found.map((line) => [
      line.id,
      line.quarantined ? output.paint('red', 'quarantined') : statusText(output.paint, line.status),
      line.name,
      timeText(line.updatedAt),
      line.problem ?? line.failure ?? standing(line)
    ])
    for (const line of table(rows)) output.line(line)
    const notChecked = new Set(found.flatMap((one) => one.notChecked))
    showUnchecked(frame, { notChecked: [...notChecked] })
    if (found.length === 0 && !output.isJson) output.log(text`no runs`)
    return exitCodes.done
  })
}

function standing(line: RunLine): string {
  return line.waits.length === 0 ? awaited(line) : `${line.waits.length} open`
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
