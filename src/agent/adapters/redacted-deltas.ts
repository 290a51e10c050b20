import type { RedactedStream, Redactor } from '../../core/index.js'
import type { TurnDelta } from './adapter.js'

/**
 * The deltas of one turn without known secrets, also where one arrives in pieces.
 *
 * Owns: the end of each kind of text, in which a secret may have begun.
 */
export class RedactedDeltas {
  readonly #redactor: Redactor
  readonly #give: (delta: TurnDelta) => void
  readonly #streams = new Map<TurnDelta['kind'], RedactedStream>()

  constructor(redactor: Redactor, give: (delta: TurnDelta) => void) {
    this.#redactor = redactor
    this.#give = give
  }

  readonly take = ({ kind, text }: TurnDelta): void => {
    const stream = this.#streams.get(kind) ?? this.#redactor.stream()
    this.#streams.set(kind, stream)
    this.#tell(kind, stream.push(text))
  }

  /** Gives what was held back. */
  end(): void {
    for (const [kind, stream] of this.#streams) this.#tell(kind, stream.end())
  }

  #tell(kind: TurnDelta['kind'], text: string): void {
    if (text !== '') this.#give({ kind, text })
  }
}
