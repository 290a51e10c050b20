import type { DocumentPath } from './yaml.js'

/**
 * Finds places in JSON text: each object or list that a path leads through is scanned once, for
 * where its members stand, and what is inside of them is passed over. So a finding or a hundred of
 * them in a large text cost few scans of it, and nothing is kept for the rest.
 *
 * Owns: the places of the members that were asked for. `text` is JSON.
 */
export class JsonPlaces {
  readonly #text: string
  readonly #members = new Map<number, ReadonlyMap<string, Member>>()

  constructor(text: string) {
    this.#text = text
  }

  /** Offset of the key or item at a path; of its nearest ancestor where there is none. */
  offsetOf(path: DocumentPath): number {
    let value = this.#afterBlanks(0)
    let offset = value
    for (const segment of path) {
      const member = this.#membersOf(value).get(String(segment))
      if (member === undefined) break
      offset = member.offset
      value = member.value
    }
    return offset
  }

  #membersOf(value: number): ReadonlyMap<string, Member> {
    const known = this.#members.get(value)
    if (known !== undefined) return known
    const found = this.#scan(value)
    this.#members.set(value, found)
    return found
  }

  /** The members of the object or list at an offset; none of any other value. */
  #scan(container: number): ReadonlyMap<string, Member> {
    const found = new Map<string, Member>()
    const opening = this.#text[container]
    if (opening !== '{' && opening !== '[') return found
    let at = this.#afterBlanks(container + 1)
    while (!closes(this.#text[at])) {
      // As YAML has it: a text begins behind its quote.
      const offset = this.#text[at] === '"' ? at + 1 : at
      let key = String(found.size)
      if (opening === '{') {
        const end = this.#afterString(at)
        key = JSON.parse(this.#text.slice(at, end)) as string
        at = this.#afterBlanks(this.#afterBlanks(end) + 1)
      }
      found.set(key, { offset, value: at })
      at = this.#afterBlanks(this.#afterValue(at))
      if (this.#text[at] === ',') at = this.#afterBlanks(at + 1)
    }
    return found
  }

  #afterBlanks(offset: number): number {
    let at = offset
    while (this.#text.charCodeAt(at) <= 0x20) at += 1
    return at
  }

  #afterString(quote: number): number {
    for (let at = quote + 1; ; ) {
      const end = this.#text.indexOf('"', at)
      if (end === -1) return this.#text.length
      let slashes = 0
      while (this.#text[end - 1 - slashes] === '\\') slashes += 1
      at = end + 1
      if (slashes % 2 === 0) return at
    }
  }

  #afterValue(start: number): number {
    let depth = 0
    for (let at = start; at < this.#text.length; ) {
      const char = this.#text[at]
      if (char === '"') {
        at = this.#afterString(at)
        if (depth === 0) return at
        continue
      }
      if (depth === 0 && (char === ',' || closes(char))) return at
      if (char === '{' || char === '[') depth += 1
      else if (closes(char)) depth -= 1
      at += 1
      if (depth === 0 && closes(char)) return at
    }
    return this.#text.length
  }
}

interface Member {
  /** Of its key, or of the item. */
  readonly offset: number
  readonly value: number
}

function closes(char: string | undefined): boolean {
  return char === '}' || char === ']' || char === undefined
}
