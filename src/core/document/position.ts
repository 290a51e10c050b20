import { coreError, type TallyError } from '../errors/error.js'

/** A place in a text: both count from 1, columns in UTF-16 units as editors do. */
export interface Position {
  readonly line: number
  readonly column: number
}

const lineBreak = /\r\n|\r|\n/g

/** The lines of one text, scanned once; LF, CR LF and CR all end a line. */
export class Lines {
  readonly #starts: number[] = [0]

  constructor(text: string) {
    for (const { index, 0: ending } of text.matchAll(lineBreak)) {
      this.#starts.push(index + ending.length)
    }
  }

  /** The place of an offset (UTF-16 units from 0). */
  at(offset: number): Position {
    const wanted = Math.max(0, offset)
    let first = 0
    let behind = this.#starts.length
    while (behind - first > 1) {
      const middle = (first + behind) >> 1
      if ((this.#starts[middle] ?? 0) <= wanted) first = middle
      else behind = middle
    }
    return { line: first + 1, column: wanted - (this.#starts[first] ?? 0) + 1 }
  }
}

/** A `document.malformed` error that points at an offset of the text. */
export function malformedAt(text: string, offset: number, problem: string): TallyError {
  const { line, column } = new Lines(text.slice(0, Math.max(0, offset))).at(offset)
  return coreError('document.malformed', { line, column, problem })
}
