import { resolve } from 'node:path'
import { inspectLocation, mainIdentity, type SnapshotReport } from '../ledger/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { withSession } from './frame/session.js'
import { text } from './frame/text.js'

/** `tally export FILE`: a snapshot of the ledger, from which `tally import` makes it again. */
export async function exportSnapshot(
  frame: Frame,
  file: string,
  options: { readonly unsigned?: boolean }
): Promise<ExitCode> {
  const { output, cwd, directory } = frame
  const found = await inspectLocation(directory)
  // An imported ledger is opened without its key.
  const identity = frame.identity ?? (found && mainIdentity(found.marker))
  const isFollower = found?.marker.followers?.some((one) => one === identity) === true
  const unsigned = options.unsigned === true || isFollower
  const path = resolve(cwd, file)
  const report = await withSession<SnapshotReport>(frame, unsigned ? 'read' : 'sign', (session) =>
    session.client.request('export', { path, unsigned })
  )
  output.document('export', report)
  const { receipts, openRuns, headRoot, isNoted } = report
  output.line(text`${output.paint('green', 'exported')} ${path}`)
  output.line(text`${receipts} receipts, ${openRuns} open runs, head root ${headRoot}`)
  if (!isNoted) output.log(text`it ends with no signed note`)
  output.log(text`it holds what the ledger holds in clear, and no key`)
  return exitCodes.done
}
