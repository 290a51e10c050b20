import { malformed } from './protocol.js'

const LINE_FEED = 0x0a

/** Cuts a byte stream into lines of UTF-8 text, none longer than a limit. */
export class LineReader {
  readonly #bytesMax: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The lines that `chunk` completes. Throws `owner.malformed_message` for one that is no text. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = []
    let from = 0
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, from)
      const part = chunk.subarray(from, end < 0 ? chunk.length : end)
      this.#parts.push(part)
      this.#bytes += part.length
      if (this.#bytes > this.#bytesMax) throw malformed(`it is over ${this.#bytesMax} bytes`)
      if (end < 0) return lines
      lines.push(this.#take())
      from = end + 1
    }
  }

  #take(): string {
    const bytes = Buffer.concat(this.#parts)
    this.#parts = []
    this.#bytes = 0
    try {
      return this.#decoder.decode(bytes)
    } catch {
      throw malformed('it is not UTF-8 text')
    }
  }
}
