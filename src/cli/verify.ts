import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { TallyError } from '../core/index.js'
import type { GivenNote } from '../ledger/index.js'
import { readInput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
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

/** A note counts only when it comes from outside the ledger's own directory (P5). */
async function readNote(frame: Frame, path: string): Promise<GivenNote> {
  const content = await readInput(frame, path)
  const real = async (one: string) => realpath(one).catch(() => one)
  const way = relative(await real(frame.directory), await real(resolve(frame.cwd, path)))
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) {
    throw new TallyError('cli.note_inside', { path })
  }
  return { source: path, text: content }
}
