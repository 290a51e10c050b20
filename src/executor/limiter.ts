/** At most `width` pieces of work at once, in the order in which they came. */
export class Limiter {
  readonly #width: number
  #running = 0
  #waiting: (() => void)[] = []

  constructor(width: number) {
    this.#width = width
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#width) this.#running += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The place is handed on, so that a newcomer does not overtake those who wait.
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
