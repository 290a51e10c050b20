import { TallyError } from '../errors/error.js'

/** A place in a text: both count from 1, columns in UTF-16 units as editors do. */
export interface Position {
  readonly line: number
  readonly column: number
}

const lineBreak = /\r\n|\r|\n/g

/** The place of an offset (UTF-16 units from 0) in a text; LF, CR LF and CR all end a line. */
export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, Math.max(0, offset))
  const breaks = [...before.matchAll(lineBreak)]
  const last = breaks.at(-1)
  const lineStart = last === undefined ? 0 : last.index + last[0].length
  return { line: breaks.length + 1, column: before.length - lineStart + 1 }
}

/** A `document.malformed` error that points at an offset of the text. */
export function malformedAt(text: string, offset: number, problem: string): TallyError {
  const { line, column } = positionAt(text, offset)
  return new TallyError('document.malformed', { line, column, problem })
}
