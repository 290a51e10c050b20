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
