import type { ManualClock } from '../../core/index.js'

/** Everything that happens in a simulation, in order, a line each. */
export class Trace {
  readonly #lines: string[] = []
  readonly #clock: ManualClock
  readonly #beginAt: number
  readonly #hears: ((line: string) => void) | undefined

  constructor(clock: ManualClock, hears?: (line: string) => void) {
    this.#clock = clock
    this.#hears = hears
    this.#beginAt = clock.now()
  }

  get elapsedMs(): number {
    return this.#clock.now() - this.#beginAt
  }

  add(node: string, what: string): void {
    const line = `${this.elapsedMs} ${node}: ${what}`
    this.#lines.push(line)
    this.#hears?.(line)
  }

  text(): string {
    return this.#lines.join('\n')
  }

  /** The last lines, for a message. */
  tail(lines: number): string {
    const left = this.#lines.length - lines
    const shown = this.#lines.slice(-lines).join('\n')
    return left > 0 ? `… ${left} lines before\n${shown}` : shown
  }
}
