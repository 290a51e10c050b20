import type { Json } from '../../core/index.js'
import type { MessageOutcome, WaitMessage } from '../run/waits.js'
import type { PumpEvent, Reply } from './facts.js'

/**
 * The facts of one run that are not journal entries yet, in the order in which they came, and what
 * people outside have asked of it. At most one fact for each outstanding call (D9).
 */
export class Inbox {
  #facts: PumpEvent[] = []
  #wake: (() => void) | undefined
  #isOver = false
  #failure: { readonly error: unknown } | undefined

  get isEmpty(): boolean {
    return this.#facts.length === 0
  }

  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  post(fact: PumpEvent): void {
    this.#facts.push(fact)
    this.#wake?.()
  }

  take(): PumpEvent | undefined {
    return this.#facts.shift()
  }

  /** Takes a message from outside the run; resolves when it has been decided and is durable. */
  message(message: WaitMessage): Promise<MessageOutcome> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error)
    if (this.#isOver) return Promise.resolve({ accepted: false, reason: 'run_moved' })
    return new Promise((resolve, reject) =>
      this.post({ kind: 'message', message, resolve, reject })
    )
  }

  /** Asks for the end of the run; false when it has ended or moved before it heard. */
  cancel(reason: string, by: Json): Promise<boolean> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error)
    if (this.#isOver) return Promise.resolve(false)
    return new Promise((resolve, reject) =>
      this.post({ kind: 'cancel', reason, by, resolve, reject })
    )
  }

  /** Resolves at the next fact, failure or `wake`. */
  async stirred(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }

  wake(): void {
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#failure ??= { error }
    this.#wake?.()
  }

  /** The run has ended or moved: callers that still wait for an answer get that. */
  close(): void {
    this.#isOver = true
    for (const fact of this.#facts) {
      const isAsked = fact.kind === 'message' || fact.kind === 'cancel'
      if (isAsked && this.#failure !== undefined) fact.reject(this.#failure.error)
      else if (fact.kind === 'message') fact.resolve({ accepted: false, reason: 'run_moved' })
      else if (fact.kind === 'cancel') fact.resolve(false)
    }
    this.#facts = []
  }
}

/** Gives the sender of a message its outcome, an error too: nothing may wait for ever (L3). */
export async function told<Outcome>(
  sender: Reply<Outcome>,
  act: () => Promise<Outcome>
): Promise<void> {
  try {
    sender.resolve(await act())
  } catch (error) {
    sender.reject(error)
    throw error
  }
}
