import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { elapsedMs, TallyError } from '../core/index.js'
import type { GivenNote, VerificationReport } from '../ledger/index.js'
import { readInput } from './frame/files.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { shortValue } from './frame/render.js'
import { text } from './frame/text.js'
import { verifyThere } from './frame/verification.js'

export interface VerifyOptions {
  readonly note?: readonly string[]
  readonly replay?: boolean
  readonly config?: string
}

/** `tally verify`: checks the whole ledger, and says what was not checked. Needs no key. */
export async function verify(frame: Frame, options: VerifyOptions): Promise<ExitCode> {
  const notes = await Promise.all((options.note ?? []).map((path) => readNote(frame, path)))
  const from = elapsedMs()
  const { replay = false, config } = options
  const report = await verifyThere(frame, { notes, replay, config })
  const durationMs = Math.round(elapsedMs() - from)
  frame.output.document('verification', { ...report, durationMs })
  showReport(frame, report, durationMs)
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

function showReport(frame: Frame, report: VerificationReport, durationMs: number): void {
  const { output } = frame
  const { paint } = output
  const { failure, anchored, notChecked } = report
  const mark = report.ok ? paint('green', 'verified') : paint('red', 'NOT VERIFIED')
  output.line(text`${mark} identity ${report.identity}`)
  const counts = [
    `${report.receipts} receipts`,
    `${report.evidence} evidence records`,
    `${report.signatures} signatures`,
    `${report.runs} runs`,
    `${report.journalEntries} journal entries`,
    `${report.stateEntries} state entries`
  ]
  output.line(text`${counts.join(', ')} in ${durationMs} ms`)
  if (failure !== undefined) {
    output.line(text`${paint('red', `at receipt ${failure.index}`)}: ${failure.field}`)
    if (failure.key !== undefined) output.line(text`  key      ${failure.key}`)
    output.line(text`  expected ${shortValue(failure.expected)}`)
    output.line(text`  actual   ${shortValue(failure.actual)}`)
  }
  for (const { source, size, ok, problem } of anchored.notes) {
    output.line(text`note ${source}: ${ok ? `covers ${size} records` : (problem ?? 'not used')}`)
  }
  const open = anchored.logSize - anchored.upTo
  if (anchored.notes.length > 0) {
    const place = `${anchored.upTo} of ${anchored.logSize}`
    output.line(text`anchored up to ${place}; ${open} not anchored`)
  }
  for (const one of notChecked) output.line(text`${paint('yellow', 'not checked')} ${one}`)
}
