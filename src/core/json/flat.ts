/**
 * The same text in one piece. V8 keeps what was joined as a tree of its parts and walks all of it
 * for each use: for what is joined once and used often. `text` is well-formed.
 */
export function flatText(text: string): string {
  return Buffer.from(text).toString()
}
