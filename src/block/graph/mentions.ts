import { isJsonObject, type Json } from '../../core/index.js'

/**
 * Which responses some values of a graph refer to; `all` when that cannot be told from the text.
 */
export type Mentions =
  | { readonly all: true }
  | { readonly all: false; readonly names: ReadonlySet<string> }

const anyUse = /\bnodes\b/g
// A call, as in nodes.all(...), is about every node.
const directUse = /\bnodes\s*(?:\.\s*[A-Za-z]\w*(?!\w|\s*\()|\[\s*["'])/g
const words = /[A-Za-z][A-Za-z0-9_]*/g
const wordsWithDashes = /[A-Za-z][A-Za-z0-9_-]*/g

/**
 * Node names that stand in values beside `nodes`. It may name too many, never too few: a response
 * that is kept without need costs memory, one that is missing a wrong result.
 */
export function mentionedNodes(values: readonly Json[]): Mentions {
  const names = new Set<string>()
  for (const text of values.flatMap(textsOf)) {
    const uses = text.match(anyUse)?.length ?? 0
    if (uses === 0) continue
    if ((text.match(directUse)?.length ?? 0) < uses) return { all: true }
    for (const word of text.match(words) ?? []) names.add(word)
    for (const word of text.match(wordsWithDashes) ?? []) names.add(word)
  }
  return { all: false, names }
}

function textsOf(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (isJsonObject(value)) return Object.values(value).flatMap(textsOf)
  return []
}
