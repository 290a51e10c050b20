import { timeText } from '../core/index.js'
import type { QueueLine } from '../runtime/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { showSafeMode, table } from './frame/render.js'
import { withSession } from './frame/session.js'
import { text } from './frame/text.js'

/**
 * `tally queues [NAME]`: how much of each queue has its turn and how much waits; of one, what. In a
 * ledger that nothing holds, the runs that wait for their turn.
 */
export async function queues(frame: Frame, name: string | undefined): Promise<ExitCode> {
  const { output } = frame
  const asked = name === undefined ? {} : { name }
  return withSession(frame, 'read', async ({ client }) => {
    const { queues: found } = await client.request('queues', asked)
    await showSafeMode(frame, client)
    for (const queue of found) output.document('queue', queue)
    if (output.isJson) return exitCodes.done
    if (found.length === 0) output.log(text`no queues`)
    for (const line of table(found.map(rowOf))) output.line(line)
    if (name !== undefined) for (const line of table(found.flatMap(workRows))) output.line(line)
    return exitCodes.done
  })
}

function rowOf({ name, of, concurrency, running, waiting, rate, nextAt }: QueueLine): string[] {
  const atOnce = concurrency === null ? '' : `of ${concurrency}`
  const speed = rate === null ? '' : `${rate.limit} in ${rate.perMs} ms`
  const next = nextAt === null ? '' : `next at ${timeText(nextAt)}`
  return [name, of ?? '', `${running} running ${atOnce}`.trim(), `${waiting} waiting`, speed, next]
}

function workRows({ work }: QueueLine): string[][] {
  return work.map(({ runId, path, effect, priority, partition, since, isRunning }) => [
    isRunning ? 'running' : 'waiting',
    runId,
    path === null ? 'run' : `${path} ${effect ?? ''}`,
    partition,
    priority === 0 ? '' : `priority ${priority}`,
    timeText(since)
  ])
}
