/**
 * Lines of text that comes in pieces. A line ends at LF alone: other line breaks of Unicode are
 * part of the text, so Node's `readline` will not do.
 */
export class Lines {
  #pieces: string[] = []
  #length = 0

  /** The lines that are complete now, without their ends. */
  take(text: string): readonly string[] {
    const [first = '', ...others] = text.split('\n')
    this.#keep(first)
    return others.map((next) => {
      const line = this.rest()
      this.#keep(next)
      return line
    })
  }

  /** UTF-16 units of the line that has not ended. */
  get length(): number {
    return this.#length
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
