import { limits } from '../../core/index.js'
import type { ActorAt, ChartAt, DocumentGraph, GraphEdge, GraphNode } from '../../runtime/index.js'
import { columnsOf, fitted, joined, type Paint, type Style, Text, text } from './text.js'

/** Names and conditions are cut at this width: a chart is looked at, `graph` has all of it. */
const NAME_COLUMNS = 32
const DOES_COLUMNS = 36
const WHEN_COLUMNS = 60

/** What is shown first of actors of one node stands first. */
const states = {
  busy: { mark: '▶', word: 'runs', style: 'cyan' },
  waiting: { mark: '?', word: 'waits', style: 'yellow' },
  failed: { mark: '✗', word: 'failed', style: 'red' },
  succeeded: { mark: '✓', word: 'done', style: 'green' },
  untouched: { mark: '·', word: '', style: 'dim' }
} as const satisfies Readonly<Record<string, { mark: string; word: string; style: Style }>>

type State = keyof typeof states

/**
 * A run's document as a tree: each node with what does it, where it stands, and below it where it
 * leads, in the order of first match, or what it needs. `at` undefined: how the run stands is not
 * known.
 */
export function chartLines(
  paint: Paint,
  graph: DocumentGraph,
  at: ChartAt | undefined
): readonly Text[] {
  const actors = actorsOf(graph, at?.actors ?? [])
  const kind = paint('dim', graph.kind)
  return [
    text`${paint('bold', graph.name)} ${kind}`,
    ...graphLines({ paint, actors }, graph, new Text(''), 0)
  ]
}

/** Of each node the actor that is shown: code has several of one name at once. */
function actorsOf(
  { kind }: DocumentGraph,
  actors: readonly ActorAt[]
): ReadonlyMap<string, ActorAt> {
  const shown = new Map<string, ActorAt>()
  for (const actor of actors) {
    // No name of a step in code has a point: they are `pack` and `pack.2`.
    const path = kind === 'function' ? actor.path.replace(/\.\d+(?=\/|$)/g, '') : actor.path
    const before = shown.get(path)
    if (before === undefined || rankOf(actor) < rankOf(before)) shown.set(path, actor)
  }
  return shown
}

const rankOf = (actor: ActorAt) => Object.keys(states).indexOf(stateOf(actor))

interface Drawn {
  readonly paint: Paint
  readonly actors: ReadonlyMap<string, ActorAt>
}

function graphLines(
  drawn: Drawn,
  { nodes, edges }: DocumentGraph,
  indent: Text,
  depth: number
): readonly Text[] {
  const widths = {
    name: widthOf(nodes, nameOf),
    does: widthOf(nodes, doesOf)
  }
  return inOrder(nodes, edges).flatMap((node, at) => {
    const isLast = at === nodes.length - 1
    const branch = drawn.paint('dim', isLast ? '└─' : '├─')
    const below = text`${indent}${drawn.paint('dim', isLast ? '   ' : '│  ')}`
    const inner =
      node.graph === undefined || depth >= limits.GRAPH_DEPTH_MAX
        ? []
        : graphLines(drawn, node.graph, below, depth + 1)
    return [
      text`${indent}${branch} ${nodeText(drawn, node, widths)}`,
      ...edgeLines(drawn.paint, node, edges).map((line) => text`${below}    ${line}`),
      ...inner
    ]
  })
}

/** As the document leads: what nothing leads to first, then what follows from what came before. */
function inOrder(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): readonly GraphNode[] {
  const led = new Set(edges.filter(({ from, to }) => from !== to).map(({ to }) => to))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const targets = new Map<string, string[]>()
  const byOrder = edges.toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0))
  for (const { from, to } of byOrder) targets.set(from, [...(targets.get(from) ?? []), to])
  const reached = new Set(nodes.filter(({ id }) => !led.has(id)).map(({ id }) => id))
  // A cycle that nothing leads into has no first node: the others follow as they stand.
  for (const start of [undefined, ...byId.keys()]) {
    if (start !== undefined) reached.add(start)
    // What is added while this goes is gone through, too.
    for (const id of reached) for (const to of targets.get(id) ?? []) reached.add(to)
  }
  return [...reached].flatMap((id) => byId.get(id) ?? [])
}

const nameOf = ({ id }: GraphNode) => fitted(id, NAME_COLUMNS)

function doesOf({ does, sideEffects, confirm }: GraphNode): string {
  const parts = [fitted(does, DOES_COLUMNS), sideEffects, confirm ? 'asks first' : null]
  return parts.filter((part) => part !== null && part !== 'none').join(', ')
}

function widthOf(nodes: readonly GraphNode[], shown: (node: GraphNode) => string): number {
  return Math.max(0, ...nodes.map((node) => columnsOf(shown(node))))
}

function nodeText(
  { paint, actors }: Drawn,
  node: GraphNode,
  widths: { readonly name: number; readonly does: number }
): Text {
  const actor = actors.get(node.path)
  const state = stateOf(actor)
  const { mark, word, style } = states[state]
  const name = filled(nameOf(node), widths.name)
  const isCurrent = state === 'busy' || state === 'waiting'
  const tries = actor !== undefined && actor.attempt > 1 ? `, attempt ${actor.attempt}` : ''
  const isCounted = actor !== undefined && actor.step > 0
  const where = isCounted && word !== '' ? `${word}, step ${actor.step}${tries}` : word
  const does = where === '' ? doesOf(node) : filled(doesOf(node), widths.does)
  return joined(
    [
      text`${paint(style, mark)} ${isCurrent ? paint('bold', name) : name}`,
      paint('dim', does),
      ...(where === '' ? [] : [paint(style, where)])
    ],
    '  '
  )
}

function filled(shown: string, columns: number): string {
  return shown + ' '.repeat(Math.max(0, columns - columnsOf(shown)))
}

function stateOf(actor: ActorAt | undefined): State {
  if (actor === undefined) return 'untouched'
  if (actor.mark === 'WAITING') return 'waiting'
  if (actor.mark === 'BUSY') return 'busy'
  return actor.ended ?? 'untouched'
}

/** Where a node leads, by first match; of a plan, what it needs. */
function edgeLines(paint: Paint, { id }: GraphNode, edges: readonly GraphEdge[]): readonly Text[] {
  const out = edges
    .filter(({ from, order }) => from === id && order !== null)
    .toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0))
  const needs = edges.filter(({ to, order }) => to === id && order === null)
  const condition = (when: string | null) =>
    when === null ? '' : ` when ${fitted(when, WHEN_COLUMNS)}`
  const leads = out.map(({ to, when, order }) => {
    const place = out.length > 1 ? `${order} ` : ''
    return paint('dim', `${place}→ ${fitted(to, NAME_COLUMNS)}${condition(when)}`)
  })
  if (needs.length === 0) return leads
  const names = needs.map(({ from }) => fitted(from, NAME_COLUMNS)).join(', ')
  return [...leads, paint('dim', `needs ${names}${condition(needs[0]?.when ?? null)}`)]
}
