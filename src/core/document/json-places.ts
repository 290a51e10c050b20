import type { Pieces } from './pieces.js'
import { isSliceFull, passSteps } from './work.js'
import type { DocumentPath } from './yaml.js'

/**
 * Finds places in JSON text: each object or list that a path leads through is scanned once, up to
 * the member that is wanted, and what is inside of the others is passed over. So a finding or a
 * hundred of them in a large text cost few scans of it, and nothing is kept for the rest.
 *
 * Owns: the places of the members that were asked for. `text` is JSON.
 */
export class JsonPlaces {
  readonly #text: string
  /** By the offset of the object or list. */
  readonly #scans = new Map<number, Scan>()

  constructor(text: string) {
    this.#text = text
  }

  /** Offset of the key or item at a path; of its nearest ancestor where there is none. */
  *finding(path: DocumentPath): Pieces<number> {
    let value = this.#afterBlanks(0)
    let offset = value
    for (const segment of path) {
      const member = yield* this.#member(value, String(segment))
      if (member === undefined) break
      offset = member.offset
      value = member.value
    }
    return offset
  }

  /** Reads on in the object or list at an offset until it has met a member. */
  *#member(container: number, wanted: string): Pieces<Member | undefined> {
    const scan = this.#scans.get(container) ?? this.#begin(container)
    for (;;) {
      const found = scan.members.get(wanted)
      if (found !== undefined) return found
      this.#pass(scan)
      if (closes(this.#text[scan.at])) return undefined
      this.#take(scan)
      if (isSliceFull()) yield
    }
  }

  #begin(container: number): Scan {
    const opening = this.#text[container]
    const isObject = opening === '{'
    const isContainer = isObject || opening === '['
    const at = isContainer ? this.#afterBlanks(container + 1) : this.#text.length
    const scan = { isObject, members: new Map<string, Member>(), at, isAtValue: false }
    this.#scans.set(container, scan)
    return scan
  }

  /** Passes over the value of the last member, which may be large and be wanted itself. */
  #pass(scan: Scan): void {
    if (!scan.isAtValue) return
    const after = this.#afterBlanks(this.#afterValue(scan.at))
    passSteps((after - scan.at) / CHARS_OF_STEP)
    scan.at = this.#text[after] === ',' ? this.#afterBlanks(after + 1) : after
    scan.isAtValue = false
  }

  #take(scan: Scan): void {
    let { at } = scan
    // As YAML has it: a text begins behind its quote.
    const offset = this.#text[at] === '"' ? at + 1 : at
    let key = String(scan.members.size)
    if (scan.isObject) {
      const end = this.#afterString(at)
      key = JSON.parse(this.#text.slice(at, end)) as string
      at = this.#afterBlanks(this.#afterBlanks(end) + 1)
    }
    scan.members.set(key, { offset, value: at })
    passSteps(STEPS_OF_MEMBER + (at - offset) / CHARS_OF_STEP)
    scan.at = at
    scan.isAtValue = true
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
      structure.lastIndex = at
      const found = structure.exec(this.#text)
      if (found === null) return this.#text.length
      const [char] = found
      at = found.index
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

const structure = /["[\]{},]/g
/** Work of one member beside that of its characters. */
const STEPS_OF_MEMBER = 2
const CHARS_OF_STEP = 16

/** How far an object or list was read. */
interface Scan {
  readonly isObject: boolean
  /** By key, or by index as text. */
  readonly members: Map<string, Member>
  /** Where the next member begins, or the container ends. */
  at: number
  /** Whether `at` is where the value of the last member begins. */
  isAtValue: boolean
}

interface Member {
  /** Of its key, or of the item. */
  readonly offset: number
  readonly value: number
}

function closes(char: string | undefined): boolean {
  return char === '}' || char === ']' || char === undefined
}
