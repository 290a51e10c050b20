import { type Random, Xorshift128 } from '../core/index.js'

/**
 * Draws from a seed: the same questions in the same order get the same answers everywhere. As
 * `random` of a runtime it makes the ids, salts and keys of a test repeatable.
 *
 * Never for anything that is kept: the seed gives away every key, salt and id, also those of an
 * identity that a runtime creates with it. Give each opening of one ledger a seed of its own: ids
 * that come again name the runs that are there.
 *
 * @example
 * const tally = await createRuntime({ location: 'memory:', random: new Chance('one'), blocks })
 */
export class Chance implements Random {
  readonly #random: Xorshift128

  constructor(seed: string) {
    this.#random = new Xorshift128(seed)
  }

  /** A whole number from 0, below the limit; 0 where the limit leaves no choice. */
  below(limit: number): number {
    return limit <= 0 ? 0 : this.#random.uint32() % limit
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#random.uint32() >>> 24)
  }

  uuid(): string {
    return this.#random.uuid()
  }

  oneOf<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.below(values.length)] ?? values[0]
  }
}
