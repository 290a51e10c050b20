/** What was exceeded, as the details of a failure have it. */
export type Exceeded =
  | { readonly bytesMax: number }
  | { readonly eventBytesMax: number }
  | { readonly eventValuesMax: number }

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

/**
 * A bound on the values in the JSON of each server-sent event: their lists, objects and commas,
 * which take a reader longer than as many bytes of text do.
 */
export class EventValuesBound implements StreamBound {
  readonly #inner: StreamBound
  readonly #valuesMax: number
  #values = 0
  /** Of the line so far; one that is empty but for a CR ends an event. */
  #lineBytes = 0
  #last = LF
  #isInString = false
  #isEscaped = false

  constructor(inner: StreamBound, valuesMax: number) {
    this.#inner = inner
    this.#valuesMax = valuesMax
  }

  exceededBy(chunk: Uint8Array): Exceeded | undefined {
    for (const byte of chunk) {
      if (byte === LF || byte === CR) this.#endLine(byte)
      else if (this.#isInString) this.#string(byte)
      else if (byte === QUOTE) this.#isInString = true
      else if (byte === COMMA || byte === BRACE || byte === BRACKET) {
        this.#values += 1
        if (this.#values > this.#valuesMax) return { eventValuesMax: this.#valuesMax }
      }
      if (byte !== LF) this.#lineBytes += 1
      this.#last = byte
    }
    return this.#inner.exceededBy(chunk)
  }

  #string(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInString = false
  }

  /** No string of JSON goes on behind the end of a line, whatever this one was. */
  #endLine(byte: number): void {
    this.#isInString = false
    this.#isEscaped = false
    if (byte === CR) return
    if (this.#lineBytes === 0 || (this.#lineBytes === 1 && this.#last === CR)) this.#values = 0
    this.#lineBytes = 0
  }
}

const LF = 10
const CR = 13
const QUOTE = 0x22
const COMMA = 0x2c
const BRACKET = 0x5b
const BACKSLASH = 0x5c
const BRACE = 0x7b
