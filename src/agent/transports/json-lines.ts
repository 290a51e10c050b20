import { exactJson, type Json, limits } from '../../core/index.js'
import { Lines } from './lines.js'

/** Reads JSON values from bytes that come in pieces, one a line. Numbers are exact. */
export class JsonLines {
  readonly #decoder = new TextDecoder('utf-8')
  readonly #lines = new Lines()

  /** Values of the lines that are complete now; undefined in place of what is not JSON. */
  take(chunk: Uint8Array): readonly (Json | undefined)[] {
    const lines = this.#lines.take(this.#decoder.decode(chunk, { stream: true }))
    return lines.filter((line) => line.trim() !== '').map(jsonOf)
  }

  /** A line has grown over what a turn may answer. */
  get isTooLong(): boolean {
    return this.#lines.length > limits.TURN_RESPONSE_BYTES_MAX
  }
}

function jsonOf(line: string): Json | undefined {
  try {
    // What JSON.parse gives is plain JSON.
    return exactJson(line) as Json
  } catch {
    return undefined
  }
}
