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
  const { text } = view
  const parts: string[] = []
  // Where each part that follows an escape begins, in this view and in the one before.
  const starts: number[] = [0]
  const sources: number[] = [0]
  let length = 0
  let from = 0
  for (const { 0: found, index } of text.matchAll(closedEscape)) {
    parts.push(text.slice(from, index), characterOf(found))
    length += index - from + 1
    from = index + found.length
    // The escape itself is one character that stands for several.
    starts.push(length - 1, length)
    sources.push(index, from)
  }
  if (from === 0) return undefined
  parts.push(text.slice(from))
  const at = (offset: number) => {
    const place = lastAtMost(starts, offset)
    return view.at((sources[place] ?? 0) + offset - (starts[place] ?? 0))
  }
  const boundary = (offset: number) => {
    const place = lastAtMost(sources, offset, view.at)
    // The parts that are escapes have the odd places.
    const isInside = place % 2 === 1 && offset < view.at(sources[place + 1] ?? 0)
    return isInside ? view.at(sources[place] ?? 0) : offset
  }
  return { text: parts.join(''), at, boundary }
}

function characterOf(escaped: string): string {
  if (escaped.startsWith('%')) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  const letter = escaped.charAt(1)
  if (letter === 'u') return String.fromCharCode(Number.parseInt(escaped.slice(2), 16))
  return letters[letter] ?? letter
}

/** Place of the last number that is not above the one asked for; they ascend, from 0. */
function lastAtMost(
  numbers: readonly number[],
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
