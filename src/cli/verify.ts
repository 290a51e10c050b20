import { resolve } from 'node:path'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { readNote } from './frame/notes.js'
import { showReport } from './frame/report.js'
import { text } from './frame/text.js'
import { verifyThere } from './frame/verification.js'

export interface VerifyOptions {
  readonly note?: readonly string[]
  readonly archive?: readonly string[]
  readonly replay?: boolean
  readonly complete?: boolean
  readonly config?: string
}

/**
 * `tally verify`: checks the whole ledger, and says what was not checked; codes are checked where
 * the key file can be read. With `--complete` the exit code asks for both: nothing contradicted,
 * everything executed again.
 */
export async function verify(frame: Frame, options: VerifyOptions): Promise<ExitCode> {
  const notes = await Promise.all((options.note ?? []).map((path) => readNote(frame, path)))
  const { complete = false, config } = options
  const replay = complete || options.replay === true
  const archives = (options.archive ?? []).map((path) => resolve(frame.cwd, path))
  const asked = { notes, executions: replay ? 1 : 0, config, archives } as const
  const report = await verifyThere(frame, asked)
  showReport(frame, report)
  const { output } = frame
  if (complete && report.ok && !report.complete) {
    output.line(text`${output.paint('red', 'not complete')}: not everything was executed again`)
  }
  // A note that fits nothing shows nothing (P5).
  const isAnchored = report.anchored.notes.every(({ ok }) => ok)
  const isEnough = report.ok && isAnchored && (!complete || report.complete)
  return isEnough ? exitCodes.done : exitCodes.unverified
}
