import { canonicalize, type Json, type KnownTexts } from '../../core/index.js'

/** How far down a payload literals are looked for: flows have theirs one or two steps below. */
const LITERAL_DEPTH = 2

/**
 * Canonical texts of what payloads are made of: results of the steps before, whose texts are known,
 * and literals of the definition, which are the same objects in every step.
 *
 * Owns: nothing that cannot be written again. What it knows must not change, and does not:
 * code is given copies.
 */
export class PayloadTexts implements KnownTexts {
  readonly #texts = new WeakMap<object, string>()
  readonly #seen = new WeakSet()

  get(value: object): string | undefined {
    return this.#texts.get(value)
  }

  /** Takes over a text that was written elsewhere. */
  keep(value: unknown, text: string): void {
    if (typeof value === 'object' && value !== null) this.#texts.set(value, text)
  }

  /** Canonical JSON of a payload. */
  of(payload: Json): string {
    this.#look(payload, 0)
    return canonicalize(payload, this)
  }

  /** What is met for the second time is written for good. */
  #look(value: Json, depth: number): void {
    if (typeof value !== 'object' || value === null || this.#texts.has(value)) return
    if (this.#seen.has(value)) {
      this.#texts.set(value, canonicalize(value))
      return
    }
    if (depth > 0) this.#seen.add(value)
    if (depth === LITERAL_DEPTH || Array.isArray(value)) return
    for (const inner of Object.values(value)) this.#look(inner, depth + 1)
  }
}
