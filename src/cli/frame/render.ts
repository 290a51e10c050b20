import { canonicalize, isJsonObject, type Json, timeText } from '../../core/index.js'
import type { RunSummary, ServiceEvent } from '../../runtime/index.js'
import type { ServiceClient } from './client.js'
import { commandLine } from './command-line.js'
import type { Frame } from './frame.js'
import { escapeText, joined, type Paint, Text, text } from './text.js'

/** How runs look to people. */

const VALUE_LENGTH_MAX = 200

export type Wait = RunSummary['waits'][number]

/** A value on one line, cut when it is long. */
export function shortValue(value: Json | undefined): string {
  if (value === undefined) return ''
  const written = canonicalize(value)
  return written.length <= VALUE_LENGTH_MAX ? written : `${written.slice(0, VALUE_LENGTH_MAX)}…`
}

export function shortHash(hash: string | null | undefined): string {
  return hash === null || hash === undefined ? '-' : hash.slice(0, 12)
}

export const statusStyles = {
  running: 'cyan',
  waiting: 'yellow',
  done: 'green',
  failed: 'red',
  cancelled: 'red',
  imported: 'yellow'
} as const

export function statusText(paint: Paint, status: RunSummary['status']): Text {
  return paint(statusStyles[status], status)
}

/** What a run waits for that no message ends, its turn in a queue or a time; empty: nothing. */
export function awaited({
  status,
  queued,
  due
}: Pick<RunSummary, 'status' | 'queued' | 'due'>): string {
  if (queued !== undefined) return `queued in ${queued.name}`
  return status === 'waiting' && due !== null ? `until ${timeText(due)}` : ''
}

/** What could not be compared with what is signed: said to people where it is shown. */
export function showUnchecked(
  { output }: Frame,
  { notChecked }: { readonly notChecked: readonly string[] }
): void {
  for (const one of notChecked) output.line(text`${output.paint('yellow', 'not checked')} ${one}`)
}

/**
 * Says, beside what is listed of the state, that the ledger is in safe mode: what is lost of a
 * damaged ledger is not in the list.
 */
export async function showSafeMode({ output }: Frame, client: ServiceClient): Promise<void> {
  const { mode, cause } = await client.request('status', {})
  if (mode !== 'safe') return
  const problem = cause === null ? '' : `: ${cause.message}`
  output.log(text`${output.paint('yellow', 'not checked')} the ledger is in safe mode${problem}`)
}

/** Name of a node without the root that all have in common. */
export function nodeName(path: string): string {
  return path.replace(/^root\//, '')
}

/** One event as a line, or undefined when it says nothing to people. */
export function eventLine(paint: Paint, event: ServiceEvent): Text | undefined {
  switch (event.type) {
    case 'run.started':
      return joined([
        paint('bold', 'run'),
        event.runId,
        event.name,
        shortHash(event.definitionHash)
      ])
    case 'run.resumed':
      return text`${paint('bold', 'run')} ${event.runId} resumed`
    case 'block.settled': {
      const { response, path, block, attempt } = event
      const mark = response.success ? paint('green', 'done  ') : paint('red', 'failed')
      const tries = attempt > 1 ? ` attempt ${attempt}` : ''
      const what = response.success ? shortValue(response.data) : (response.reason ?? '')
      const receipt = event.receiptHash === undefined ? '' : ` ${shortHash(event.receiptHash)}`
      return text`${mark} ${nodeName(path)} ${paint('dim', `${block}${tries}${receipt}`)} ${what}`
    }
    case 'waiting':
      return joined([
        paint('yellow', 'waits '),
        nodeName(event.path),
        event.reason,
        shortValue(event.request)
      ])
    case 'signal':
      return text`${paint('cyan', 'signal')} ${event.name} ${event.id}`
    case 'answered':
      return text`${paint('cyan', 'answer')} ${nodeName(event.path)} ${event.action}`
    case 'approved':
      return joined([
        paint('cyan', 'signed'),
        nodeName(event.path),
        event.action,
        `by ${event.key}`
      ])
    case 'exception': {
      const { path, exception } = event
      const [first = ''] = exception.stack
      const thrown = `${exception.name}: ${exception.message}`
      return text`${paint('red', 'thrown')} ${nodeName(path)} ${shortValue(thrown)} ${first}`
    }
    case 'run.quarantined':
      return text`${paint('red', 'quarantined')} ${event.runId} differs in ${event.field}`
    case 'run.resting':
      return text`${paint('yellow', 'rests')} ${event.why}`
    case 'events.dropped':
      return text`${paint('dim', `${event.count} events were too many to show`)}`
    case 'agent.delta':
    case 'block.started':
    case 'effect.sealed':
    case 'log':
    case 'run.parked':
    case 'run.finished':
      return undefined
  }
}

/** What a run waits for, and the command that answers each. */
export function waitLines(frame: Frame, runId: string, waits: readonly Wait[]): readonly Text[] {
  const { paint } = frame.output
  return waits.flatMap((wait) => [
    joined([
      paint('yellow', 'waiting'),
      `${nodeName(wait.path)}:`,
      wait.reason,
      shortValue(wait.request)
    ]),
    text`  digest ${wait.digest}`,
    ...approverLines(wait),
    ...answerCommands(frame, runId, wait).map((command) => text`  ${new Text(command)}`)
  ])
}

/** Who has to sign the answer to a wait, and who has. */
export function approverLines({ approvers, approvals = [] }: Wait): readonly Text[] {
  if (approvers === undefined) return []
  const { keys, threshold } = approvers
  return [
    text`  needs the signatures of ${threshold} of ${keys.length} approvers`,
    ...keys.map((key) => {
      const given = approvals.find((one) => one.key === key)
      if (given === undefined) return text`    ${key}`
      return text`    ${key} has signed: ${given.action} ${shortValue(given.value)}`
    })
  ]
}

/** Commands that end a wait, as they would be typed. */
export function answerCommands(frame: Frame, runId: string, wait: Wait): readonly string[] {
  const { token, actions, approvers } = wait
  const signed = approvers === undefined ? '' : ' --as KEYFILE'
  return actions.flatMap((action) => {
    if (action === 'cancel') return []
    if (action === 'approve' || action === 'deny') {
      return [commandLine(frame, [action, runId, token]) + signed]
    }
    if (action === 'signal') return [signalCommandLine(frame, runId, wait)]
    const words = ['resume', runId, token]
    if (action === 'resume') return [`${commandLine(frame, words)} --value JSON${signed}`]
    const value = action === 'patch' ? ' --value JSON' : ''
    return [commandLine(frame, [...words, '--action', action]) + value]
  })
}

function signalCommandLine(frame: Frame, runId: string, { request }: Wait): string {
  const name = isJsonObject(request) ? String(request['signal']) : 'NAME'
  return `${commandLine(frame, ['signal', runId, name])} --value JSON`
}

/** A table whose columns line up; the last one may be of any length. */
export function table(rows: readonly (readonly (string | Text)[])[]): readonly Text[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, lengthOf(cell))
    }
  }
  return rows.map((row) => joined(row.map((cell, at) => padded(cell, at, row.length, widths))))
}

function padded(cell: string | Text, at: number, count: number, widths: readonly number[]): Text {
  const fill = at === count - 1 ? 0 : (widths[at] ?? 0) - lengthOf(cell)
  return text`${cell}${' '.repeat(Math.max(0, fill))}`
}

const colour = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')

function lengthOf(cell: string | Text): number {
  const shown = cell instanceof Text ? cell.value.replace(colour, '') : escapeText(cell)
  return [...shown].length
}
