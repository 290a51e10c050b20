/**
 * Lines of text that comes in pieces. A line ends at LF alone: other line breaks of Unicode are
 * part of the text, so Node's `readline` will not do.
 */
export class Lines {
  readonly #lengthMax: number
  #pieces: string[] = []
  #length = 0

  /** `lengthMax`: UTF-16 units of a line. */
  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax
  }

  /** The lines that are complete now, without their ends; undefined once a line is too long. */
  take(text: string): readonly string[] | undefined {
    const [first = '', ...others] = text.split('\n')
    this.#keep(first)
    const lines = others.map((next) => {
      const line = this.rest()
      this.#keep(next)
      return line
    })
    const isTooLong = [...lines.map(({ length }) => length), this.#length].some(
      (length) => length > this.#lengthMax
    )
    return isTooLong ? undefined : lines
  }

  /** Takes what has come of the line that has not ended. */
  rest(): string {
    const rest = this.#pieces.join('')
    this.#pieces = []
    this.#length = 0
    return rest
  }

  #keep(piece: string): void {
    this.#pieces.push(piece)
    this.#length += piece.length
  }
}
