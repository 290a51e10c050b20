import {
  canonicalize,
  canonicalizeOwn,
  flatText,
  isJsonObject,
  type Json,
  type JsonObject,
  type KnownTexts,
  setOwn
} from '../../core/index.js'

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

  constructor(inputs: Iterable<Json | undefined>) {
    for (const input of inputs) this.#collect(input)
  }

  get isEmpty(): boolean {
    return this.#literals.size === 0
  }

  get(value: object): string | undefined {
    return this.#literalOf(value)?.text
  }

  /**
   * A payload as its canonical JSON reads, but with the same literals in it each time, and with the
   * parts that read like that as they are: only for code that changes nothing of what it is given.
   */
  copyOf(payload: Json): Json {
    // What JSON makes of the negative zero.
    if (typeof payload !== 'object' || payload === null) return payload === 0 ? 0 : payload
    const literal = this.#literalOf(payload)
    if (literal !== undefined) return literal.value
    if (Array.isArray(payload)) return this.#listOf(payload as readonly Json[])
    return isJsonObject(payload) ? this.#objectOf(payload) : payload
  }

  #listOf(list: readonly Json[]): Json {
    const copy = list.map((item) => this.copyOf(item))
    return copy.every((item, index) => Object.is(item, list[index])) ? list : copy
  }

  #objectOf(object: JsonObject): Json {
    const keys = Object.keys(object)
    let isSame = true
    let before: string | undefined
    for (const key of keys) {
      isSame &&= before === undefined || before < key
      before = key
    }
    if (!isSame) keys.sort()
    const copy: Record<string, Json> = {}
    for (const key of keys) {
      const member = object[key] ?? null
      const copied = this.copyOf(member)
      isSame &&= Object.is(copied, member)
      setOwn(copy, key, copied)
    }
    return isSame ? object : copy
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
    return canonicalizeOwn(payload, this)
  }

  /** What is met for the second time is written for good. */
  #look(value: Json, depth: number): void {
    if (typeof value !== 'object' || value === null || this.#texts.has(value)) return
    if (this.#seen.has(value)) {
      this.#texts.set(value, canonicalizeOwn(value))
      return
    }
    if (depth > 0) this.#seen.add(value)
    if (depth === LITERAL_DEPTH || Array.isArray(value)) return
    for (const inner of Object.values(value)) this.#look(inner, depth + 1)
  }
}

interface KnownText {
  readonly of: object
  readonly text: string
}

/**
 * Canonical JSON of the payloads of one run: one that goes from step to step is written once.
 * Payloads are our own data: definitions, inputs, answers and what repairs give are parsed copies.
 */
export class WrittenPayloads {
  readonly #literals: (() => Literals) | undefined
  /** The payload written last, and the one that was written elsewhere. */
  #last: KnownText | undefined
  #kept: KnownText | undefined
  #known: KnownTexts | undefined

  constructor(literals: (() => Literals) | undefined) {
    this.#literals = literals
  }

  of(payload: Json): string {
    if (typeof payload !== 'object' || payload === null) return canonicalizeOwn(payload)
    if (this.#kept?.of === payload) return this.#kept.text
    if (this.#last?.of === payload) return this.#last.text
    const text = canonicalizeOwn(payload, this.#knownTexts())
    this.#last = { of: payload, text }
    return text
  }

  /** Takes over the canonical JSON of a payload that was written elsewhere. */
  keep(payload: Json, text: string): void {
    if (typeof payload === 'object' && payload !== null) this.#kept = { of: payload, text }
  }

  /** Texts of what payloads are made of: literals of the definition, and what the run was given. */
  #knownTexts(): KnownTexts | undefined {
    const literals = this.#literals?.()
    if (literals === undefined || literals.isEmpty) return undefined
    this.#known ??= {
      get: (value) => (this.#kept?.of === value ? this.#kept.text : literals.get(value))
    }
    return this.#known
  }
}
