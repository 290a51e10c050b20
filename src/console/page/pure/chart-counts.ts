import type { DocumentGraph } from '../../../runtime/index.js'
import type { RunStep } from './run-steps.js'

/** What of a run's document its counts go by. */
export interface ChartPlaces {
  /** Of each composite by its path, `root` the document itself. */
  readonly kinds: ReadonlyMap<string, DocumentGraph['kind']>
  /** Transitions, by {@link edgeKey} of paths. */
  readonly edges: ReadonlySet<string>
  /** Path of the node of an actor: code has several of one name at once, `pack` and `pack.2`. */
  readonly shownAs: (path: string) => string
}

export interface ChartCounts {
  /** How often each node was executed, by its path. */
  readonly visits: ReadonlyMap<string, number>
  /** How often one node followed another, by {@link edgeKey}. */
  readonly edges: ReadonlyMap<string, number>
}

/** Key of what leads from one path to another: a space is in neither. */
export const edgeKey = (from: string, to: string) => `${from} ${to}`

const ROOT = 'root'

export function placesOf(graph: DocumentGraph): ChartPlaces {
  const kinds = new Map([[ROOT, graph.kind]])
  const edges = new Set<string>()
  const open = [graph]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const pathOf = new Map(next.nodes.map(({ id, path }) => [id, path]))
    for (const { from, to } of next.edges) {
      edges.add(edgeKey(pathOf.get(from) ?? from, pathOf.get(to) ?? to))
    }
    for (const { path, graph: inner } of next.nodes) {
      if (inner === undefined) continue
      kinds.set(path, inner.kind)
      open.push(inner)
    }
  }
  // No name of a step in code has a point.
  const shownAs = (path: string) =>
    graph.kind === 'function' ? path.replace(/\.\d+(?=\/|$)/g, '') : path
  return { kinds, edges, shownAs }
}

/** What is known of one composite as its steps are gone through. */
interface Level {
  /** The node in it that was executed last. */
  last: string | undefined
  /** Nodes that were executed since it was entered. */
  readonly seen: Set<string>
}

/**
 * Counts executions of nodes and what led from one to another, from steps up to where the run is
 * looked at. The journal has steps of blocks: a composite is executed again where another node of
 * its level came between, or where what is in it begins anew, which no transition of it leads to. A
 * composite that follows itself, and has a transition to where it begins, is counted once.
 */
export function countsOf(steps: readonly RunStep[], places: ChartPlaces): ChartCounts {
  const { shownAs } = places
  const visits = new Map<string, number>()
  const edges = new Map<string, number>()
  const levels = new Map<string, Level>()
  const levelAt = (path: string) => {
    const level = levels.get(path) ?? { last: undefined, seen: new Set() }
    levels.set(path, level)
    return level
  }
  for (const { path, isFuture } of steps) {
    // What undoes a step, or does it later, is none of the document's.
    if (isFuture || path.includes('~')) continue
    const chain = chainTo(shownAs(path))
    const [first = path] = chain
    if (chain.length === 1) add(visits, first)
    const anew = beginsAt(chain, levels, places)
    for (let depth = 1; depth < chain.length; depth += 1) {
      const [around = '', node = ''] = [chain[depth - 1], chain[depth]]
      const level = levelAt(around)
      if (depth < anew) continue
      add(visits, node)
      if (level.last !== undefined) add(edges, edgeKey(level.last, node))
      level.last = node
      level.seen.add(node)
      levels.delete(node)
    }
  }
  return { visits, edges }
}

/** Paths of what is around a node, from the root, and its own. */
function chainTo(path: string): readonly string[] {
  const names = path.split('/')
  return names.map((_, depth) => names.slice(0, depth + 1).join('/'))
}

/** The first place in the chain that is executed anew; the last one is a block, which is. */
function beginsAt(
  chain: readonly string[],
  levels: ReadonlyMap<string, Level>,
  { kinds, edges }: ChartPlaces
): number {
  let anew = chain.length - 1
  // From the inside out: what cannot follow what was there before it begins its composite anew.
  for (let depth = chain.length - 1; depth > 0; depth -= 1) {
    const [around = '', node = ''] = [chain[depth - 1], chain[depth]]
    const { last, seen } = levels.get(around) ?? { seen: new Set() }
    const isInOrder = inOrder.has(kinds.get(around))
    const isOther = isInOrder ? last !== node : !seen.has(node)
    if (isOther) anew = depth
    if (depth !== anew || depth === 1) continue
    const follows = isInOrder ? last === undefined || edges.has(edgeKey(last, node)) : isOther
    if (!follows) anew = depth - 1
  }
  return anew
}

/** One node after the other, by transitions. */
const inOrder: ReadonlySet<DocumentGraph['kind'] | undefined> = new Set(['composite', 'flow'])

/** Nodes whose last execution has failed, and composites in which what ended last has. */
export function failedNodes(
  steps: readonly RunStep[],
  { shownAs }: ChartPlaces
): ReadonlySet<string> {
  const failed = new Set<string>()
  const ended = steps.filter(({ isFuture, path }) => !isFuture && !path.includes('~'))
  for (const { path, state } of ended.sort((one, other) => one.to - other.to)) {
    const names = shownAs(path).split('/')
    for (const depth of names.keys()) {
      const node = names.slice(0, depth + 1).join('/')
      if (state === 'failed') failed.add(node)
      else if (state !== 'cancelled') failed.delete(node)
    }
  }
  return failed
}

function add(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
