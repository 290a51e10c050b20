import { cliError, timeText } from '../core/index.js'
import type { ScheduleLine } from '../runtime/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { refusalIn } from './frame/intent.js'
import { showSafeMode, table } from './frame/render.js'
import { openSession, type Session } from './frame/session.js'
import { text } from './frame/text.js'

export interface SchedulesOptions {
  readonly pause?: boolean
  readonly resume?: boolean
  readonly remove?: boolean
  readonly config?: string
}

const changes = ['pause', 'resume', 'remove'] as const
type Change = (typeof changes)[number]

/** `tally schedules [NAME]`: what begins by time and when next; or pauses, resumes, removes one. */
export async function schedules(
  frame: Frame,
  name: string | undefined,
  options: SchedulesOptions
): Promise<ExitCode> {
  const asked = changes.filter((change) => options[change] === true)
  const [change] = asked
  if (asked.length > 1 || (change !== undefined && name === undefined)) {
    const problem = 'Name one schedule, and one of --pause, --resume and --remove'
    throw cliError('cli.usage', { problem })
  }
  const need = change === undefined ? 'read' : 'run'
  const session = await openSession(frame, need, { config: options.config })
  try {
    if (change !== undefined && name !== undefined)
      return await changed(frame, session, name, change)
    return await listed(frame, session, name)
  } finally {
    await session.close()
  }
}

async function changed(
  { output }: Frame,
  { client }: Session,
  name: string,
  change: Change
): Promise<ExitCode> {
  const action = `system.schedule.${change}`
  const reply = await client.request('intent', { action, payload: { name } })
  output.document('schedule', { name, change, reply })
  if (reply.type === 'dapp') {
    output.line(text`${output.paint('green', done[change])} ${name}`)
    return exitCodes.done
  }
  output.line(text`${output.paint('red', 'refused')} ${refusalIn(reply)}`)
  return exitCodes.failed
}

const done = { pause: 'paused', resume: 'resumed', remove: 'removed' } as const

async function listed(
  frame: Frame,
  { client }: Session,
  name: string | undefined
): Promise<ExitCode> {
  const { output } = frame
  await showSafeMode(frame, client)
  const asked = name === undefined ? { times: 1 } : { name, times: TIMES_SHOWN }
  const { schedules: found } = await client.request('schedules', asked)
  for (const schedule of found) output.document('schedule', schedule)
  if (output.isJson) return exitCodes.done
  if (found.length === 0) output.log(text`no schedules`)
  for (const line of table(found.map(rowOf))) output.line(line)
  if (name !== undefined) {
    for (const { next } of found) for (const at of next) output.line(text`  ${timeText(at)}`)
  }
  return exitCodes.done
}

const TIMES_SHOWN = 10

function rowOf(line: ScheduleLine): string[] {
  const { name, cron, everyMs, timeZone, workflow, isPaused, next, lastRun, problem } = line
  const when = cron === null ? `every ${everyMs} ms` : `${cron} ${timeZone}`
  const [first] = next
  const coming = first === undefined ? '' : `next ${timeText(first)}`
  return [
    name,
    when,
    workflow ?? 'a document',
    isPaused ? 'paused' : coming,
    problem ?? lastRun ?? 'no run yet'
  ]
}
