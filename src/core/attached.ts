/**
 * A value for each of many objects, which goes with its object: a `WeakMap` whose values lead back
 * to their keys. V8 takes values in an old `WeakMap` for live until its next full collection, so
 * that each run would be copied twice and die old.
 *
 * Owns nothing: the values are under a symbol of their objects, which must not be frozen.
 */
export class Attached<Owner extends object, Value> {
  readonly #key = Symbol('attached')

  get(owner: Owner): Value | undefined {
    return (owner as Readonly<Record<symbol, Value | undefined>>)[this.#key]
  }

  set(owner: Owner, value: Value): void {
    const members = owner as Record<symbol, Value | undefined>
    members[this.#key] = value
  }
}
