import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { TallyError } from '../core/index.js'
import type { GivenNote } from '../ledger/index.js'
import { readInput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { text } from './frame/text.js'
import { type Report, verifyThere } from './frame/verification.js'

export interface VerifyOptions {
  readonly note?: readonly string[]
  readonly replay?: boolean
  readonly config?: string
}

/** `tally verify`: checks the whole ledger, and says what was not checked. Needs no key. */
export async function verify(frame: Frame, options: VerifyOptions): Promise<ExitCode> {
  const notes = await Promise.all((options.note ?? []).map((path) => readNote(frame, path)))
  const { replay = false, config } = options
  const report = await verifyThere(frame, { notes, replay, config })
  frame.output.document('verification', report)
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

function showReport(frame: Frame, report: Report): void {
  const { output } = frame
  const { paint } = output
  const { failure, elapsedMs, anchored, notChecked } = report
  output.line(report.ok ? text`${paint('green', report.line)}` : text`${paint('red', report.line)}`)
  const parts = [
    `${report.signatures} signatures`,
    `${report.runs} runs`,
    `${report.journalEntries} journal entries`,
    `${report.stateEntries} state entries`,
    `${report.reexecuted} executed again`
  ]
  output.line(text`${parts.join(', ')} in ${Math.round(elapsedMs)} ms`)
  if (failure !== undefined) {
    output.line(text`${paint('red', `at receipt ${failure.index}`)}: ${failure.field}`)
    if (failure.key !== undefined) output.line(text`  key      ${failure.key}`)
    if (failure.before !== undefined) output.line(text`  before   ${failure.before}`)
    output.line(text`  expected ${failure.expected}`)
    output.line(text`  actual   ${failure.actual}`)
  }
  for (const { source, size, ok, problem } of anchored.notes) {
    output.line(text`note ${source}: ${ok ? `covers ${size} records` : (problem ?? 'not used')}`)
  }
  for (const one of notChecked) output.line(text`${paint('yellow', 'not checked')} ${one}`)
}
