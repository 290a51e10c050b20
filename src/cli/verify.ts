import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { readNote } from './frame/notes.js'
import { showReport } from './frame/report.js'
import { verifyThere } from './frame/verification.js'

export interface VerifyOptions {
  readonly note?: readonly string[]
  readonly replay?: boolean
  readonly config?: string
}

/** `tally verify`: checks the whole ledger, and says what was not checked. Needs no key. */
export async function verify(frame: Frame, options: VerifyOptions): Promise<ExitCode> {
  const notes = await Promise.all((options.note ?? []).map((path) => readNote(frame, path)))
  const { replay = false, config } = options
  const report = await verifyThere(frame, { notes, executions: replay ? 1 : 0, config })
  showReport(frame, report)
  return report.ok ? exitCodes.done : exitCodes.unverified
}
