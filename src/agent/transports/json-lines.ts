import { type Json, limits, parse } from '../../core/index.js'

/**
 * Reads JSON values from text that comes in pieces, one a line. A line ends at LF alone: other line
 * breaks of Unicode are part of the text, so Node's `readline` will not do.
 */
export class JsonLines {
  readonly #decoder = new TextDecoder('utf-8')
  #pieces: string[] = []
  #bytes = 0

  /** Values of the lines that are complete now; undefined in place of what is not JSON. */
  take(chunk: Uint8Array): readonly (Json | undefined)[] {
    const [first = '', ...others] = this.#decoder.decode(chunk, { stream: true }).split('\n')
    this.#keep(first)
    const lines: string[] = []
    for (const next of others) {
      lines.push(this.#pieces.join(''))
      this.#pieces = []
      this.#bytes = 0
      this.#keep(next)
    }
    return lines.filter((line) => line.trim() !== '').map(jsonOf)
  }

  /** A line has grown over what a turn may answer. */
  get isTooLong(): boolean {
    return this.#bytes > limits.TURN_RESPONSE_BYTES_MAX
  }

  #keep(piece: string): void {
    this.#pieces.push(piece)
    this.#bytes += Buffer.byteLength(piece)
  }
}

function jsonOf(line: string): Json | undefined {
  try {
    return parse(line)
  } catch {
    return undefined
  }
}
