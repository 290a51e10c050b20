/**
 * Characters that change how the text around them is read, or that are not seen: controls, marks of
 * direction, spaces without width, and tags. Line feeds and tabs are text.
 */
const hidden =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u3164\uffa0]|\p{Variation_Selector}/gu

/** Text of a ledger as it is drawn: hidden characters by their number, `\u{202e}`. */
export function shownText(text: string): string {
  return text.replace(hidden, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`)
}

/** The same in one line. */
export function shownLine(text: string): string {
  return shownText(text).replace(/\n/g, '\\n').replace(/\t/g, '\\t')
}

/** `1 receipt`, `2 receipts`. */
export const countText = (count: number, noun: string) =>
  `${count} ${count === 1 ? noun : `${noun}s`}`

/** Any value as one line of text, cut after `lengthMax` characters. */
export function shownValue(value: unknown, lengthMax = 200): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const line = shownLine(text.slice(0, lengthMax))
  return text.length > lengthMax ? `${line}…` : line
}

const SHORT_ID_LENGTH = 30

/** An id as it stands in lists: long ones, which people do not name, by their beginning. */
export function shownId(id: string): string {
  const text = shownLine(id)
  return text.length > SHORT_ID_LENGTH ? `${text.slice(0, 8)}…${text.slice(-4)}` : text
}

/** A path in a run without its root, which is the same in all. */
export function shownPath(path: string): string {
  return shownLine(path.replace(/^root\//, ''))
}
