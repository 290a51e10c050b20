import { type Json, limits, type TallyError } from '../core/index.js'
import { malformed, type OwnerMessage } from './protocol.js'
import { fromRemote } from './remote-error.js'

/** What a request gave next: an event of its stream, or its result, which is the end. */
export interface CallStep {
  readonly kind: 'event' | 'result'
  readonly value: Json
}

/**
 * A request under way at the client. Keeps the events that were not read yet; the owner sends no
 * more of them than it was given room for.
 */
export class Call {
  readonly #steps: CallStep[] = []
  #failure: TallyError | undefined
  #wake: () => void = () => undefined

  /** Throws `owner.malformed_message` when the owner sends more events than there is room for. */
  receive(message: OwnerMessage): void {
    if ('error' in message) {
      this.fail(fromRemote(message.error))
      return
    }
    if ('event' in message) {
      if (this.#steps.length >= limits.OWNER_EVENTS_AHEAD_MAX) {
        throw malformed('it sends more events than were asked for')
      }
      this.#steps.push({ kind: 'event', value: message.event })
    } else this.#steps.push({ kind: 'result', value: message.result })
    this.#wake()
  }

  /** Nothing more is wanted of it. */
  end(): void {
    this.#steps.push({ kind: 'result', value: null })
    this.#wake()
  }

  fail(error: TallyError): void {
    this.#failure = error
    this.#wake()
  }

  /** The next step. Throws the failure once every event before it was taken. */
  async next(): Promise<CallStep> {
    for (;;) {
      const step = this.#steps.shift()
      if (step !== undefined) return step
      if (this.#failure !== undefined) throw this.#failure
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
