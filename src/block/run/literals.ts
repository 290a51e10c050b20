import {
  canonicalize,
  flatText,
  isJsonObject,
  type Json,
  type KnownTexts
} from '../../core/index.js'
import type { DocumentDefinition } from '../document/definition.js'

/** A literal of a definition: its canonical JSON, and itself with its members in that order. */
interface Literal {
  readonly text: string
  readonly value: Json
}

/**
 * What the literals of a definition's node inputs are written as. A payload holds the very objects
 * of the definition, so each of them is written once for all runs, not once for each step.
 *
 * Owns: texts, made when they are first asked for. Does not own: the definition, which does
 * not change once it is compiled.
 */
export class Literals implements KnownTexts {
  readonly #literals = new Map<object, Literal | undefined>()

  constructor(definition: DocumentDefinition) {
    const nodes: readonly { readonly input?: Json }[] = Object.values(definition.nodes)
    for (const { input } of nodes) this.#collect(input)
  }

  get isEmpty(): boolean {
    return this.#literals.size === 0
  }

  get(value: object): string | undefined {
    return this.#literalOf(value)?.text
  }

  /**
   * A payload as its canonical JSON reads, but with the same literals in it each time: only for
   * code that changes nothing of what it is given.
   */
  copyOf(payload: Json): Json {
    // What JSON makes of the negative zero.
    if (typeof payload !== 'object' || payload === null) return payload === 0 ? 0 : payload
    const literal = this.#literalOf(payload)
    if (literal !== undefined) return literal.value
    if (Array.isArray(payload)) return payload.map((item: Json) => this.copyOf(item))
    if (!isJsonObject(payload)) return payload
    const keys = Object.keys(payload)
    if (keys.includes('__proto__')) return JSON.parse(canonicalize(payload)) as Json
    const copy: Record<string, Json> = {}
    for (const key of keys.length > 1 ? keys.sort() : keys) {
      copy[key] = this.copyOf(payload[key] ?? null)
    }
    return copy
  }

  #collect(value: Json | undefined): void {
    if (!isJsonObject(value)) return
    const { lit, object, array } = value
    if (typeof lit === 'object' && lit !== null) this.#literals.set(lit, undefined)
    if (isJsonObject(object)) for (const one of Object.values(object)) this.#collect(one)
    if (Array.isArray(array)) for (const one of array as readonly Json[]) this.#collect(one)
  }

  #literalOf(value: object): Literal | undefined {
    const known = this.#literals.get(value)
    if (known !== undefined || !this.#literals.has(value)) return known
    const text = flatText(canonicalize(value))
    const isOrdered = JSON.stringify(value) === text
    const literal = { text, value: (isOrdered ? value : JSON.parse(text)) as Json }
    this.#literals.set(value, literal)
    return literal
  }
}
