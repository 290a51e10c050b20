import type { Frame } from './frame.js'
import { text } from './text.js'
import type { Report } from './verification.js'

/** What a verification found, and what it did not check. */
export function showReport(frame: Frame, report: Report): void {
  const { output } = frame
  const { paint } = output
  const { failure, elapsedMs, anchored, notChecked } = report
  output.document('verification', report)
  if (report.ok) output.line(paint('green', report.line))
  else output.line(text`${paint('red', 'verify: FAILED')} identity ${report.identity}`)
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
    output.line(text`  signed   ${failure.signed}`)
    output.line(text`  computed ${failure.computed}`)
  }
  for (const { source, size, ok, problem } of anchored.notes) {
    output.line(text`note ${source}: ${ok ? `covers ${size} records` : (problem ?? 'not used')}`)
  }
  for (const one of notChecked) output.line(text`${paint('yellow', 'not checked')} ${one}`)
}
