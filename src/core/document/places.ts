import { isTallyError } from '../errors/error.js'
import { JsonPlaces } from './json-places.js'
import { atOnce, type Pieces } from './pieces.js'
import { Lines, type Position } from './position.js'
import { isSliceFull } from './work.js'
import { type DocumentPath, type NodeSink, readingYaml } from './yaml.js'

/** Finds a path in a document's text. */
export interface Locate {
  (path: DocumentPath): Position
  /** Looks for places in pieces, so that they are known when they are asked for. */
  readonly finding?: (paths: readonly DocumentPath[]) => Pieces<void>
}

/**
 * Finds places in one text: line and column of the key (or array item) at a path, for errors that
 * are found after reading. Best effort: where the path does not exist, the place of its nearest
 * ancestor. YAML is read once more, with the first place that is asked for, however many are.
 * `form` is what the text was read as.
 */
export function placesIn(text: string, form = isJson(text) ? 'json' : 'yaml'): Locate {
  const places = new Places(text, form)
  return Object.assign((path: DocumentPath) => places.at(path), {
    finding: (paths: readonly DocumentPath[]) => places.finding(paths)
  })
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

type FindOffset = (path: DocumentPath) => Pieces<number>

/** Owns: the offsets that were asked for, and what finding them has left. */
class Places {
  readonly #text: string
  readonly #form: string
  readonly #offsets = new Map<string, number>()
  #find: FindOffset | undefined
  #lines: Lines | undefined

  constructor(text: string, form: string) {
    this.#text = text
    this.#form = form
  }

  at(path: DocumentPath): Position {
    this.#lines ??= new Lines(this.#text)
    return this.#lines.at(atOnce(this.#offset(path)))
  }

  *finding(paths: readonly DocumentPath[]): Pieces<void> {
    if (paths.length === 0) return
    this.#lines ??= new Lines(this.#text)
    yield
    for (const path of paths) {
      yield* this.#offset(path)
      if (isSliceFull()) yield
    }
  }

  *#offset(path: DocumentPath): Pieces<number> {
    const key = JSON.stringify(path)
    const known = this.#offsets.get(key)
    if (known !== undefined) return known
    this.#find ??= this.#form === 'json' ? jsonOffsets(this.#text) : yield* yamlOffsets(this.#text)
    const offset = yield* this.#find(path)
    this.#offsets.set(key, offset)
    return offset
  }
}

function jsonOffsets(text: string): FindOffset {
  const places = new JsonPlaces(text)
  return (path) => places.finding(path)
}

function* yamlOffsets(text: string): Pieces<FindOffset> {
  const tree = new PlaceTree()
  try {
    yield* readingYaml(text, tree)
  } catch (error) {
    // Of a text that is malformed, what was found so far is the best answer.
    if (isTallyError(error, 'document.too_much_work')) throw error
  }
  // biome-ignore lint/correctness/useYield: the tree is there, and looking into it takes no time.
  return function* (path) {
    return offsetOf(tree.root, path)
  }
}

interface PlaceNode {
  readonly offset: number
  /** By key, or by index in an array. */
  members?: Map<string | number, PlaceNode>
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
