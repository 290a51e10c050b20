import { resolve } from 'node:path'
import { coreError } from '../core/index.js'
import { inspectLocation, mainIdentity } from '../ledger/index.js'
import type { ExportReport, ServiceRequests } from '../runtime/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { showUnchecked } from './frame/render.js'
import { type Session, withSession } from './frame/session.js'
import { text } from './frame/text.js'

/**
 * `tally export FILE`: a snapshot of the ledger, from which `tally import` makes it again. One that
 * does not verify is copied with `--damaged` alone, and then the command ends as `verify` does.
 */
export async function exportSnapshot(
  frame: Frame,
  file: string,
  options: {
    readonly unsigned?: boolean
    readonly damaged?: boolean
    readonly archive?: readonly string[]
  }
): Promise<ExitCode> {
  const { output, cwd, directory } = frame
  const found = await inspectLocation(directory)
  // An imported ledger is opened without its key.
  const identity = frame.identity ?? (found && mainIdentity(found.marker))
  const isFollower = found?.marker.followers?.some((one) => one === identity) === true
  const unsigned = options.unsigned === true || isFollower
  const path = resolve(cwd, file)
  const archives = (options.archive ?? []).map((one) => resolve(cwd, one))
  const given = archives.length === 0 ? {} : { archives }
  const asked = { path, unsigned, damaged: options.damaged === true, ...given }
  const report = await withSession<ExportReport>(frame, unsigned ? 'read' : 'sign', (session) =>
    exportBy(frame, session.client, asked)
  )
  output.document('export', report)
  const { receipts, openRuns, headRoot, isNoted, failure } = report
  output.line(text`${output.paint('green', 'exported')} ${path}`)
  output.line(text`${receipts} receipts, ${openRuns} open runs, head root ${headRoot}`)
  if (!isNoted) output.log(text`it ends with no signed note`)
  output.log(text`it holds what the ledger holds in clear, and no key`)
  showUnchecked(frame, report)
  if (failure === null) return exitCodes.done
  const { index, field } = failure
  const damaged = output.paint('red', 'damaged')
  output.line(text`${damaged} ${field} of receipt ${index}: no import takes this file`)
  return exitCodes.unverified
}

function exportBy(
  { output }: Frame,
  client: Session['client'],
  asked: ServiceRequests['export']['params']
): Promise<ExportReport> {
  return output.withProgress(async (report) => {
    if (report === undefined) return client.request('export', asked)
    for await (const event of client.stream('exporting', asked)) {
      if (event.phase === 'done') return event.report
      const { phase, done, total } = event
      report({ label: phase, done, total, unit: phase === 'verifying' ? 'commits' : 'lines' })
    }
    throw coreError('core.internal', { problem: 'an export ended without a report' })
  })
}
