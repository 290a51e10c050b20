/** What can make an abort signal; most code never asks for one, and one costs more than a step. */
export interface SignalSource {
  readonly signal: AbortSignal
}

/**
 * An object with a `signal` that its source makes when it is read. The property is the object's
 * own, so that a copy of the object has it too, and its getter is the same for all: an object with
 * a getter of its own costs ten times as much.
 */
export class LazySignal {
  static readonly #property: PropertyDescriptor & ThisType<LazySignal> = {
    enumerable: true,
    get() {
      return this.#source.signal
    }
  }

  declare readonly signal: AbortSignal
  readonly #source: SignalSource

  constructor(source: SignalSource) {
    this.#source = source
    Object.defineProperty(this, 'signal', LazySignal.#property)
  }
}
