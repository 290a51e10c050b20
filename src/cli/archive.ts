import { resolve } from 'node:path'
import { cliError, coreError, isHash } from '../core/index.js'
import { checkArchive } from '../ledger/index.js'
import type { ArchiveResult, ServiceStreams } from '../runtime/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { type Session, withSession } from './frame/session.js'
import { text } from './frame/text.js'

export interface ArchiveCommandOptions {
  readonly before?: string
  readonly through?: string
  readonly check?: boolean
}

/**
 * `tally archive FILE`: moves history of ended runs into a signed file, and removes it from the
 * ledger. With `--check` nothing is changed: the file is checked alone, and no ledger is needed.
 */
export async function archive(
  frame: Frame,
  file: string,
  options: ArchiveCommandOptions
): Promise<ExitCode> {
  const path = resolve(frame.cwd, file)
  if (options.check === true) return check(frame, path)
  const asked = { path, ...endOf(options) }
  const { output } = frame
  const report = await withSession<ArchiveResult>(frame, 'sign', (session) =>
    archiveBy(frame, session.client, asked)
  )
  output.document('archive', report)
  const { commits, receipts, bytes, sha256 } = report
  output.line(text`${output.paint('green', 'archived')} ${path}`)
  output.line(
    text`up to commit ${commits} and receipt ${receipts}; ${bytes} bytes, sha256 ${sha256}`
  )
  output.log(text`keep it: the ledger has no other copy, and verifies whole with all its archives`)
  return exitCodes.done
}

async function check({ output }: Frame, path: string): Promise<ExitCode> {
  const report = await output.withProgress((told) => {
    const onCommit = (done: number, total: number) =>
      told?.({ label: 'checking', done, total, unit: 'commits' })
    return checkArchive(path, onCommit)
  })
  const { identity, commits, receipts, signatures, sha256, notChecked } = report
  const { from, to, ...rest } = report
  const places = { from: from.commits, to: to.commits }
  output.document('archive', { ...rest, ...places })
  output.line(text`${output.paint('green', 'whole')} ${path}`)
  output.line(
    text`${receipts} receipts in ${commits} commits of ${identity}, from commit ${from.commits}`
  )
  output.line(text`${signatures} signatures, sha256 ${sha256}`)
  for (const what of notChecked) output.line(text`not checked: ${what}`)
  return exitCodes.done
}

function endOf({ before, through }: ArchiveCommandOptions) {
  const isOne = (before === undefined) !== (through === undefined)
  if (!isOne) {
    throw cliError('cli.usage', { problem: 'one of --before and --through is needed' })
  }
  if (before !== undefined) {
    const time = Date.parse(before)
    if (Number.isSafeInteger(time) && time >= 0) return { before: time }
    throw cliError('cli.usage', { problem: '--before is no date' })
  }
  if (isHash(through)) return { through }
  const index = Number(through)
  if (Number.isSafeInteger(index) && index >= 0) return { throughIndex: index }
  const problem = '--through is no hash of a receipt, and no place in the chain'
  throw cliError('cli.usage', { problem })
}

function archiveBy(
  { output }: Frame,
  client: Session['client'],
  asked: ServiceStreams['archiving']['params']
): Promise<ArchiveResult> {
  return output.withProgress(async (report) => {
    for await (const event of client.stream('archiving', asked)) {
      if (event.phase === 'done') return event.report
      const { phase, done, total } = event
      report?.({ label: phase, done, total, unit: 'commits' })
    }
    throw coreError('core.internal', { problem: 'an archiving ended without a report' })
  })
}
