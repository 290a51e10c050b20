import { passSteps } from '../document/work.js'
import { escapedBy, hexAt } from '../json/parse.js'
import { SECRET_LEVELS_MAX, SECRET_VIEWS_MAX } from '../limits.js'

/**
 * A text as it reads once more of its escapes are undone, and where each part of it stands in the
 * text that was given.
 */
export interface View {
  readonly text: string
  /** Offset in the given text of an offset in this one. */
  at(offset: number): number
  /** The given offset of the given text, or where the escape begins that it is inside of. */
  boundary(offset: number): number
}

/** One way in which characters are escaped: as its mark and what follows. */
interface Escaping {
  readonly mark: string
  /** UTF-16 unit that is escaped at an offset, where the mark is; -1: what follows is no escape. */
  unitAt(text: string, offset: number): number
  /** Length of that escape. */
  lengthAt(text: string, offset: number): number
}

const json: Escaping = {
  mark: '\\',
  unitAt: (text, offset) => {
    const letter = text[offset + 1] ?? ''
    return letter === 'u' ? hexAt(text, offset + 2, 4) : (escapedBy[letter]?.charCodeAt(0) ?? -1)
  },
  lengthAt: (text, offset) => (text[offset + 1] === 'u' ? 6 : 2)
}

/** Its bytes become characters of the same code. */
const percent: Escaping = {
  mark: '%',
  unitAt: (text, offset) => hexAt(text, offset + 1, 2),
  lengthAt: () => 3
}

/** Undone one after the other: of both at once, one would undo what belongs to the other. */
const escapings = [json, percent] as const

const openEscape = /(?:%[0-9a-fA-F]?|\\(?:u[0-9a-fA-F]{0,3})?)$/

function viewOf(text: string): View {
  return { text, at: (offset) => offset, boundary: (offset) => offset }
}

/** The same with one level of escapes undone; undefined when there is none. */
function unescaped(view: View, escaping: Escaping): View | undefined {
  const found = textWithout(escaping, view.text)
  if (found === undefined) return undefined
  const { text, count } = found
  // Most texts hold no secret, and then no place in them is asked for.
  let parts: Parts | undefined
  const known = () => {
    parts ??= partsOf(new Escapes(view.text, escaping), count)
    return parts
  }
  const at = (offset: number) => {
    const { starts, sources } = known()
    const place = lastAtMost(starts, offset)
    return view.at((sources[place] ?? 0) + offset - (starts[place] ?? 0))
  }
  const boundary = (offset: number) => {
    const { sources } = known()
    const place = lastAtMost(sources, offset, view.at)
    // The parts that are escapes have the odd places.
    const isInside = place % 2 === 1 && offset < view.at(sources[place + 1] ?? 0)
    return isInside ? view.at(sources[place] ?? 0) : offset
  }
  return { text, at, boundary }
}

/** Steps through the escapes of a text: of millions of them, none becomes an object. */
class Escapes {
  from = 0
  to = 0
  /** UTF-16 unit that is escaped. */
  unit = 0
  readonly #text: string
  readonly #escaping: Escaping

  constructor(text: string, escaping: Escaping) {
    this.#text = text
    this.#escaping = escaping
  }

  next(): boolean {
    const { mark } = this.#escaping
    let from = this.to
    // Escapes stand side by side where there are many.
    if (this.#text[from] !== mark) from = this.#text.indexOf(mark, from)
    for (; from !== -1; from = this.#text.indexOf(mark, from + 1)) {
      const unit = this.#escaping.unitAt(this.#text, from)
      if (unit < 0) continue
      this.from = from
      this.to = from + this.#escaping.lengthAt(this.#text, from)
      this.unit = unit
      return true
    }
    return false
  }
}

/** A text without escapes, and how many there were; undefined: none. */
function textWithout(
  escaping: Escaping,
  text: string
): { readonly text: string; readonly count: number } | undefined {
  const escapes = new Escapes(text, escaping)
  let isEscape = escapes.next()
  if (!isEscape) return undefined
  const units = new Uint16Array(text.length)
  let count = 0
  let length = 0
  let bits = 0
  for (let at = 0; at < text.length; length += 1) {
    const isHere = isEscape && at === escapes.from
    const unit = isHere ? escapes.unit : text.charCodeAt(at)
    units[length] = unit
    bits |= unit
    at = isHere ? escapes.to : at + 1
    if (!isHere) continue
    count += 1
    isEscape = escapes.next()
  }
  const written = units.subarray(0, length)
  // Half the memory.
  if (bits <= 0xff) return { text: Buffer.from(written).toString('latin1'), count }
  return { text: Buffer.from(units.buffer, 0, written.byteLength).toString('utf16le'), count }
}

/** Where each part of a text begins, escapes and what is between them in turn. */
interface Parts {
  /** In the text without escapes: there each of them is one character. */
  readonly starts: Uint32Array
  readonly sources: Uint32Array
}

function partsOf(escapes: Escapes, count: number): Parts {
  const starts = new Uint32Array(2 * count + 1)
  const sources = new Uint32Array(2 * count + 1)
  let saved = 0
  for (let place = 1; escapes.next(); place += 2) {
    const { from, to } = escapes
    starts[place] = from - saved
    starts[place + 1] = from - saved + 1
    sources[place] = from
    sources[place + 1] = to
    saved += to - from - 1
  }
  return { starts, sources }
}

/** Place of the last number that is not above the one asked for; they ascend, from 0. */
function lastAtMost(
  numbers: Uint32Array,
  asked: number,
  read: (number: number) => number = (number) => number
): number {
  let low = 0
  let high = numbers.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (read(numbers[middle] ?? 0) <= asked) low = middle
    else high = middle - 1
  }
  return low
}

/** The last offset up to one that is inside of no escape, however the given text is read. */
export function boundaryOf(views: readonly View[], offset: number): number {
  for (let boundary = offset; ; ) {
    const next = views.reduce((place, view) => Math.min(place, view.boundary(place)), boundary)
    if (next === boundary) return boundary
    boundary = next
  }
}

/** Where the escape begins that a view ends in the middle of, in the given text; its end: none. */
export function openEscapeAt(view: View): number {
  return view.at(openEscape.exec(view.text)?.index ?? view.text.length)
}

/**
 * A text as it is, and with its escapes undone level by level, in every order in which they could
 * have been made: at most `SECRET_VIEWS_MAX`.
 */
export function viewsOf(text: string): readonly View[] {
  const views = [viewOf(text)]
  let latest: readonly View[] = views
  for (let level = 0; level < SECRET_LEVELS_MAX && latest.length > 0; level += 1) {
    const next: View[] = []
    for (const view of latest) {
      for (const escaping of escapings) {
        const found = unescaped(view, escaping)
        if (found === undefined || next.some((other) => other.text === found.text)) continue
        if (views.length + next.length < SECRET_VIEWS_MAX) next.push(found)
      }
    }
    views.push(...next)
    latest = next
  }
  for (const view of views) passSteps(view.text.length / CHARS_OF_STEP)
  return views
}

/** Characters of one reading of a text that are looked at for one step of work. */
const CHARS_OF_STEP = 8
/** Characters at the end of a text that are read again without its last escape. */
const READ_AGAIN = 4 * 1024

/**
 * How a text reads at its end, and where that begins: the whole text where some reading of its end
 * has fewer characters than are asked for. `views` are those of the text with what follows it.
 */
export function viewsOfEnd(
  text: string,
  views: readonly View[],
  lengthMin: number
): { readonly from: number; readonly views: readonly View[] } {
  const from = boundaryOf(views, Math.max(0, text.length - READ_AGAIN))
  const read = from === 0 ? [] : viewsOf(text.slice(from))
  const isEnough = from > 0 && read.every((view) => view.text.length >= lengthMin)
  return isEnough ? { from, views: read } : { from: 0, views: viewsOf(text) }
}
