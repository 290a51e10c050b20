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

const escapes = {
  percent: /%[0-9a-fA-F]{2}/g,
  json: /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/g
} as const

/** Undone one after the other: of both at once, one would undo what belongs to the other. */
type Escaping = keyof typeof escapes

const escapings = ['json', 'percent'] as const satisfies readonly Escaping[]

const openEscape = /(?:%[0-9a-fA-F]?|\\(?:u[0-9a-fA-F]{0,3})?)$/

const letters: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t'
}

function viewOf(text: string): View {
  return { text, at: (offset) => offset, boundary: (offset) => offset }
}

/**
 * The same with one level of percent-encoding or of JSON's escapes undone; undefined when there is
 * none. Bytes of percent-encoding become characters of the same code.
 */
function unescaped(view: View, escaping: Escaping): View | undefined {
  const text = view.text.replace(escapes[escaping], characterOf)
  if (text.length === view.text.length) return undefined
  // Most texts hold no secret, and then no place in them is asked for.
  let parts: Parts | undefined
  const known = () => {
    parts ??= partsOf(view.text, escaping)
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

/** Where each part of a text begins, escapes and what is between them in turn. */
interface Parts {
  /** In the text without escapes: there each of them is one character. */
  readonly starts: Uint32Array
  readonly sources: Uint32Array
}

function partsOf(text: string, escaping: Escaping): Parts {
  let count = 0
  for (const _ of escapesIn(text, escaping)) count += 1
  const starts = new Uint32Array(2 * count + 1)
  const sources = new Uint32Array(2 * count + 1)
  let place = 0
  let saved = 0
  for (const [from, to] of escapesIn(text, escaping)) {
    starts.set([from - saved, from - saved + 1], place + 1)
    sources.set([from, to], place + 1)
    place += 2
    saved += to - from - 1
  }
  return { starts, sources }
}

function* escapesIn(
  text: string,
  escaping: Escaping
): Generator<readonly [from: number, to: number]> {
  for (const { 0: found, index } of text.matchAll(escapes[escaping])) {
    yield [index, index + found.length]
  }
}

function characterOf(escaped: string): string {
  if (escaped.startsWith('%')) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  const letter = escaped.charAt(1)
  if (letter === 'u') return String.fromCharCode(Number.parseInt(escaped.slice(2), 16))
  return letters[letter] ?? letter
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
  return views
}
