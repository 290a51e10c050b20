import { limits } from '../../core/index.js'

/** Tokens of turns whose answers were lost: there were no more than these. */
export interface BrokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly turns: number
}

/**
 * What turns without an answer may have used, until the agent's next turn in the run takes it into
 * its result (semantics.md A6): a provider that was begun may bill for it.
 *
 * Owns: what no turn has taken. A crash loses it.
 */
export class BrokenTurns {
  readonly #used = new Map<string, BrokenUsage>()

  add(key: string, tokens: { readonly input: number; readonly output: number }): void {
    const before = this.#used.get(key) ?? { inputTokens: 0, outputTokens: 0, turns: 0 }
    this.#used.delete(key)
    this.#used.set(key, {
      inputTokens: before.inputTokens + tokens.input,
      outputTokens: before.outputTokens + tokens.output,
      turns: before.turns + 1
    })
    const [oldest] = this.#used.keys()
    if (this.#used.size > limits.CACHE_ENTRIES_MAX && oldest !== undefined) {
      this.#used.delete(oldest)
    }
  }

  take(key: string): BrokenUsage | undefined {
    const used = this.#used.get(key)
    this.#used.delete(key)
    return used
  }
}
