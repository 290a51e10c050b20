import { canonicalize, type Json, type KnownTexts } from '../../core/index.js'
import type { Literals } from './literals.js'

interface KnownText {
  readonly of: object
  readonly text: string
}

/** Canonical JSON of the payloads of one run: one that goes from step to step is written once. */
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
    if (typeof payload !== 'object' || payload === null) return canonicalize(payload)
    if (this.#kept?.of === payload) return this.#kept.text
    if (this.#last?.of === payload) return this.#last.text
    const text = canonicalize(payload, this.#knownTexts())
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
