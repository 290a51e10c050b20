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

const closedEscape = /%[0-9a-fA-F]{2}|\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/g
const openEscape = /(?:%[0-9a-fA-F]?|\\(?:u[0-9a-fA-F]{0,3})?)$/

const letters: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t'
}

export function viewOf(text: string): View {
  return { text, at: (offset) => offset, boundary: (offset) => offset }
}

/** Where the escape begins that a view ends in the middle of, in the given text; its end: none. */
export function openEscapeAt(view: View): number {
  return view.at(openEscape.exec(view.text)?.index ?? view.text.length)
}

/**
 * The same with one level of percent-encoding and of JSON's escapes undone; undefined when there is
 * none. Bytes of percent-encoding become characters of the same code.
 */
export function unescaped(view: View): View | undefined {
  const text = view.text.replace(closedEscape, characterOf)
  if (text.length === view.text.length) return undefined
  // Most texts hold no secret, and then no place in them is asked for.
  let parts: Parts | undefined
  const known = () => {
    parts ??= partsOf(view.text)
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

function partsOf(text: string): Parts {
  let count = 0
  for (const _ of escapesIn(text)) count += 1
  const starts = new Uint32Array(2 * count + 1)
  const sources = new Uint32Array(2 * count + 1)
  let place = 0
  let saved = 0
  for (const [from, to] of escapesIn(text)) {
    starts.set([from - saved, from - saved + 1], place + 1)
    sources.set([from, to], place + 1)
    place += 2
    saved += to - from - 1
  }
  return { starts, sources }
}

function* escapesIn(text: string): Generator<readonly [from: number, to: number]> {
  for (const { 0: found, index } of text.matchAll(closedEscape)) {
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
