/**
 * Text that may go to a terminal (T23). Only {@link text} makes it, and it escapes everything that
 * is put into it: controls, bidirectional marks, invisible characters. Colours are added after
 * that.
 */
export class Text {
  readonly value: string

  constructor(value: string) {
    this.value = value
  }
}

const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Shows what cannot be seen: `\u{1b}` for an escape character. */
export function escapeText(raw: string): string {
  return raw
    .toWellFormed()
    .replace(unsafe, (mark) => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`)
}

export type Insert = string | number | Text

/** A line of which every inserted string is escaped. */
export function text(parts: TemplateStringsArray, ...inserts: readonly Insert[]): Text {
  const inner = inserts.map((insert, at) => plain(insert) + (parts[at + 1] ?? ''))
  return new Text((parts[0] ?? '') + inner.join(''))
}

function plain(insert: Insert): string {
  return insert instanceof Text ? insert.value : escapeText(String(insert))
}

/** Several in a row. */
export function joined(texts: readonly Insert[], separator = ' '): Text {
  return new Text(texts.map(plain).join(separator))
}

/** One line of JSON in which nothing can move a terminal's cursor or reorder its text. */
export function escapedJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (mark) =>
    Array.from(
      { length: mark.length },
      (_, at) => `\\u${mark.charCodeAt(at).toString(16).padStart(4, '0')}`
    ).join('')
  )
}

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Style = keyof typeof styles

/** Adds colour where it is wanted. */
export type Paint = (style: Style, insert: Insert) => Text

export function painter(hasColour: boolean): Paint {
  return (style, insert) => {
    const inner = plain(insert)
    return new Text(hasColour ? `\u001b[${styles[style]}m${inner}\u001b[0m` : inner)
  }
}

/** First and last characters of the ranges that terminals show two columns wide (UAX 11). */
const wideRanges = [
  '\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff',
  '\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}'
].join('')
const wide = new RegExp(`[${wideRanges}]|\\p{Emoji_Presentation}`, 'u')
const joining = /\p{M}/u

/** Columns of a terminal that a character takes. */
function columnsOfMark(mark: string): number {
  if (joining.test(mark)) return 0
  return wide.test(mark) ? 2 : 1
}

/** Columns of a terminal that a plain text takes. */
export function columnsOf(shown: string): number {
  let columns = 0
  for (const mark of shown) columns += columnsOfMark(mark)
  return columns
}

/** Escapes a text and cuts it so that it takes `columns` at most; what is cut ends with `…`. */
export function fitted(raw: string, columns: number): string {
  const shown = escapeText(raw)
  if (columnsOf(shown) <= columns) return shown
  let kept = ''
  let used = 1
  for (const mark of shown) {
    used += columnsOfMark(mark)
    if (used > columns) break
    kept += mark
  }
  return columns < 1 ? '' : `${kept}…`
}
