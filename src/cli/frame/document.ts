import { placesIn, readDocument } from '../../core/index.js'
import type { DocumentFile } from './document-file.js'
import { diagnosticText } from './follow.js'
import { type ExitCode, exitCodes, type Frame } from './frame.js'
import { text } from './text.js'

export type Problem = {
  readonly reason: string
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly line?: number
  readonly column?: number
  readonly more?: number
}

/**
 * What is wrong with a document by itself, whatever its names lead to; and what is doubtful, as
 * problems with the reason `lint`. Lines and columns are those of `source`. Throws
 * `document.malformed` with line and column.
 */
export async function checkDocument(
  document: string,
  source = document
): Promise<readonly Problem[]> {
  const value = readDocument(document)
  const { lintDocument, reportedDiagnostics } = await import('../../block/index.js')
  const { parseDocument } = await import('../../runtime/index.js')
  const place = placesIn(source)
  const parsed = await parseDocument(value, { locate: place })
  if (!parsed.ok) return parsed.diagnostics
  const doubtful = lintDocument(parsed.definition)
  const placed = doubtful.map((found) => ({ ...found, ...place(found.path) }))
  return reportedDiagnostics([...placed, ...(parsed.warnings ?? [])])
}

/** Prints the errors of a document that cannot run; undefined when it has none. */
export async function refuseInvalid(
  frame: Frame,
  file: string,
  { document, source }: DocumentFile
): Promise<ExitCode | undefined> {
  const errors = (await checkDocument(document, source)).filter(({ reason }) => reason !== 'lint')
  if (errors.length === 0) return undefined
  showProblems(frame, file, errors)
  frame.output.document('invalid', { file, problems: errors })
  return exitCodes.usage
}

export function showProblems(frame: Frame, file: string, problems: readonly Problem[]): void {
  const { output } = frame
  for (const problem of problems) {
    const mark =
      problem.reason === 'lint' ? output.paint('yellow', 'warning') : output.paint('red', 'error')
    output.line(text`${mark} ${file}:${diagnosticText(problem)}`)
  }
}
