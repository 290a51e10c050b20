import { SECRET_LENGTH_MIN } from '../limits.js'

/** Where something was found: offsets in the text, and what it was. */
export interface Found {
  readonly from: number
  readonly to: number
  /** Place of the pattern in the list that was given. */
  readonly pattern: number
}

const PLACES = 1 << 16

/**
 * Finds any of many patterns in one pass over a text (Wu and Manber 1994, with blocks of two). Each
 * pattern has at least `SECRET_LENGTH_MIN` characters, so most places of a text are skipped:
 * what a text costs hardly depends on how many patterns there are.
 *
 * Owns: the tables. Immutable.
 */
export class Patterns {
  readonly #patterns: readonly string[]
  readonly #skips = new Uint8Array(PLACES).fill(SECRET_LENGTH_MIN - 1)
  /** Patterns by the block in which their first characters end. */
  readonly #ending = new Map<number, number[]>()
  /** Patterns by their first character. */
  readonly #beginning = new Map<string, number[]>()
  /** Length of the longest of them. */
  readonly lengthMax: number

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns
    this.lengthMax = patterns.reduce((longest, { length }) => Math.max(longest, length), 0)
    for (const [place, pattern] of patterns.entries()) this.#add(place, pattern)
  }

  #add(place: number, pattern: string): void {
    for (let end = 1; end < SECRET_LENGTH_MIN; end += 1) {
      const block = blockAt(pattern, end)
      const skip = SECRET_LENGTH_MIN - 1 - end
      this.#skips[block] = Math.min(this.#skips[block] ?? 0, skip)
    }
    append(this.#ending, blockAt(pattern, SECRET_LENGTH_MIN - 1), place)
    append(this.#beginning, pattern.charAt(0), place)
  }

  /** Every place of every pattern, by where it begins. */
  find(text: string): readonly Found[] {
    const found: Found[] = []
    let end = SECRET_LENGTH_MIN - 1
    while (end < text.length) {
      const block = blockAt(text, end)
      const skip = this.#skips[block] ?? 0
      if (skip > 0) {
        end += skip
        continue
      }
      const from = end - SECRET_LENGTH_MIN + 1
      for (const pattern of this.#ending.get(block) ?? []) {
        const sought = this.#patterns[pattern] ?? ''
        if (text.startsWith(sought, from)) found.push({ from, to: from + sought.length, pattern })
      }
      end += 1
    }
    return found
  }

  /** Where the longest end of a text begins that a pattern could begin with; its length: none. */
  openAt(text: string): number {
    for (let from = Math.max(0, text.length - this.lengthMax + 1); from < text.length; from += 1) {
      const rest = text.slice(from)
      const begun = this.#beginning.get(rest.charAt(0)) ?? []
      if (begun.some((pattern) => this.#isBegunBy(pattern, rest))) return from
    }
    return text.length
  }

  #isBegunBy(pattern: number, rest: string): boolean {
    const sought = this.#patterns[pattern] ?? ''
    return sought.length > rest.length && sought.startsWith(rest)
  }
}

function append<Key>(lists: Map<Key, number[]>, key: Key, place: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [place])
  else list.push(place)
}

function blockAt(text: string, end: number): number {
  return ((text.charCodeAt(end - 1) & 0xff) << 8) | (text.charCodeAt(end) & 0xff)
}
