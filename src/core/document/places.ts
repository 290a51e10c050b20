import { JsonPlaces } from './json-places.js'
import { Lines, type Position } from './position.js'
import { type DocumentPath, type NodeSink, readYaml } from './yaml.js'

/** Finds a path in a document's text. */
export type Locate = (path: DocumentPath) => Position

/**
 * Finds places in one text: line and column of the key (or array item) at a path, for errors that
 * are found after reading. Best effort: where the path does not exist, the place of its nearest
 * ancestor. YAML is read once more, with the first place that is asked for, however many are.
 */
export function placesIn(text: string): Locate {
  let places:
    | { readonly offsetOf: (path: DocumentPath) => number; readonly lines: Lines }
    | undefined
  return (path) => {
    places ??= { offsetOf: offsetsIn(text), lines: new Lines(text) }
    return places.lines.at(places.offsetOf(path))
  }
}

function offsetsIn(text: string): (path: DocumentPath) => number {
  if (isJson(text)) {
    const places = new JsonPlaces(text)
    return (path) => places.offsetOf(path)
  }
  const root = placesOf(text)
  return (path) => offsetOf(root, path)
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

interface PlaceNode {
  readonly offset: number
  /** By key, or by index in an array. */
  members?: Map<string | number, PlaceNode>
}

function placesOf(text: string): PlaceNode {
  const tree = new PlaceTree()
  try {
    readYaml(text, tree)
  } catch {
    // Of a text that is malformed, what was found so far is the best answer.
  }
  return tree.root
}

class PlaceTree implements NodeSink {
  readonly #open: PlaceNode[] = []
  root: PlaceNode = { offset: 0 }

  enter(segment: string | number | undefined, offset: number): void {
    const node: PlaceNode = { offset }
    const parent = this.#open.at(-1)
    if (parent === undefined || segment === undefined) this.root = node
    else {
      parent.members ??= new Map()
      parent.members.set(segment, node)
    }
    this.#open.push(node)
  }

  leave(): void {
    this.#open.pop()
  }
}

function offsetOf(root: PlaceNode, path: DocumentPath): number {
  let found = root
  for (const segment of path) {
    const next = found.members?.get(segment) ?? found.members?.get(otherForm(segment))
    if (next === undefined) break
    found = next
  }
  return found.offset
}

// A path may name an index as text, and a key of digits as a number.
function otherForm(segment: string | number): string | number {
  if (typeof segment === 'number') return String(segment)
  const index = Number(segment)
  return String(index) === segment ? index : segment
}
