/** What was exceeded, as the details of a failure have it. */
export type Exceeded = { readonly bytesMax: number } | { readonly eventBytesMax: number }

/** Counts a stream while it passes. */
export interface StreamBound {
  /** Counts the next bytes; gives the bound that they exceed. */
  exceededBy(chunk: Uint8Array): Exceeded | undefined
}

/** A bound on all bytes of a stream. */
export class BytesBound implements StreamBound {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  exceededBy({ byteLength }: Uint8Array): Exceeded | undefined {
    this.#bytes += byteLength
    return this.#bytes > this.#bytesMax ? { bytesMax: this.#bytesMax } : undefined
  }
}

/**
 * A bound on each server-sent event as well: an empty line ends one. What reads the stream parses
 * an event in one call, however its bytes came.
 */
export class EventsBound implements StreamBound {
  readonly #bytes: BytesBound
  readonly #eventBytesMax: number
  #eventBytes = 0
  #lineBytes = 0
  #last = LF

  constructor(bytes: BytesBound, eventBytesMax: number) {
    this.#bytes = bytes
    this.#eventBytesMax = eventBytesMax
  }

  exceededBy(chunk: Uint8Array): Exceeded | undefined {
    const eventBytesMax = this.#eventBytesMax
    for (let at = 0; at < chunk.byteLength; ) {
      const end = chunk.indexOf(LF, at)
      const next = end === -1 ? chunk.byteLength : end
      this.#take(next - at, chunk[next - 1])
      if (this.#eventBytes + this.#lineBytes > eventBytesMax) return { eventBytesMax }
      if (end !== -1) this.#endLine()
      at = next + 1
    }
    return this.#bytes.exceededBy(chunk)
  }

  #take(bytes: number, last: number | undefined): void {
    if (bytes === 0) return
    this.#lineBytes += bytes
    this.#last = last ?? LF
  }

  /** A line may end with CR and LF. One that ends with CR alone is counted with the next. */
  #endLine(): void {
    const isEmpty = this.#lineBytes === 0 || (this.#lineBytes === 1 && this.#last === CR)
    this.#eventBytes = isEmpty ? 0 : this.#eventBytes + this.#lineBytes + 1
    this.#lineBytes = 0
  }
}

const LF = 10
const CR = 13
