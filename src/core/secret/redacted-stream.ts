/** What a stream asks of its redactor. */
interface StreamRedactor {
  text(text: string): string
  settledLength(text: string): number
}

/**
 * A text that arrives in chunks, without the secrets in it.
 *
 * Owns: the end of the text in which a secret may have begun. Whatever the chunks are, all that it
 * gives is together what the redactor makes of the whole text.
 */
export class RedactedStream {
  readonly #redactor: StreamRedactor
  #held = ''

  constructor(redactor: StreamRedactor) {
    this.#redactor = redactor
  }

  /** Takes the next chunk and gives what is settled; often less, sometimes nothing. */
  push(chunk: string): string {
    const text = this.#held + chunk
    const settled = this.#redactor.settledLength(text)
    this.#held = text.slice(settled)
    return this.#redactor.text(text.slice(0, settled))
  }

  /** What was held; after it the stream begins anew. */
  end(): string {
    const rest = this.#held
    this.#held = ''
    return this.#redactor.text(rest)
  }
}
