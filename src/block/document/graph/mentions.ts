import type { CompiledValue, ValueReference } from './expressions.js'

/** Which responses some values of a graph read; `all` when an index is computed. */
export type Mentions =
  | { readonly all: true }
  | { readonly all: false; readonly names: ReadonlySet<string> }

/**
 * The nodes that compiled values read, from their syntax trees (W2): however a name is written, a
 * response that a value reads is kept for it.
 */
export function mentionedNodes(values: readonly (CompiledValue | null)[]): Mentions {
  const names = new Set<string>()
  for (const { root, path } of values.flatMap((value): readonly ValueReference[] => {
    return value?.references ?? []
  })) {
    if (root !== 'nodes') continue
    const [name] = path
    if (name === undefined) return { all: true }
    names.add(String(name))
  }
  return { all: false, names }
}

/** Whether a value reads the response of a node, or may: an index that is computed can be any. */
export function mentions(value: CompiledValue | null, name: string): boolean {
  const read = mentionedNodes([value])
  return read.all || read.names.has(name)
}
