import { Xorshift128 } from '../core/index.js'

/** Draws from a seed: the same questions in the same order get the same answers everywhere. */
export class Chance {
  readonly #random: Xorshift128

  constructor(seed: string) {
    this.#random = new Xorshift128(seed)
  }

  /** A whole number from 0, below the limit; 0 where the limit leaves no choice. */
  below(limit: number): number {
    return limit <= 0 ? 0 : this.#random.uint32() % limit
  }

  oneOf<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.below(values.length)] ?? values[0]
  }
}
