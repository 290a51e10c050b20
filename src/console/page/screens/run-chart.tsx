import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ActorAt, DocumentGraph, GraphNode } from '../../../runtime/index.js'
import { address, choose } from '../client/navigation.js'
import { useQuery } from '../client/query.js'
import { Problem, say } from '../parts/basics.js'
import {
  type ChartCounts,
  type ChartPlaces,
  countsOf,
  edgeKey,
  failedNodes,
  placesOf
} from '../pure/chart-counts.js'
import { type Layout, layoutOf } from '../pure/graph-layout.js'
import { isUnderWay, type RunStep } from '../pure/run-steps.js'
import { shownLine } from '../pure/shown-text.js'
import { ChartEdges } from './chart-edges.js'
import { ChartNode, type NodeLook } from './chart-node.js'
import { chooseStep, type RunShown } from './run-shown.js'
import { isNarrow, view } from './width.js'

const PAD = 16
/** More room beside the first rank, where an edge leads back to it. */
const PAD_OF_LOOP = 14
const TOP = 40
/** Width of what stands beside the chart: navigation and detail. */
const BESIDE_WIDE = 184 + 372
const BESIDE = 54 + 330
const WIDE = 1_080
/** Nodes above which only what is in sight is drawn. */
const NODES_DRAWN_ALWAYS = 120
const MARGIN = 300

const kinds: Readonly<Record<DocumentGraph['kind'], string>> = {
  composite: 'composite: the first match wins',
  plan: 'plan: what is ready runs',
  workflow: 'workflow: what is ready runs',
  flow: 'flow of agents',
  intent: 'one intent',
  function: 'workflow in code: what it has called'
}

/** The graph of the run's document, with what was going on in it after the entry. */
export function ChartPanel({ shown }: { readonly shown: RunShown }) {
  const { run, actors, past } = shown
  // What code asks for grows with its journal; a document's graph stands from the beginning.
  const grows = useRef(false)
  const version = grows.current ? shown.journal.length : 0
  const { value: chart, problem } = useQuery('chart', { id: run.id }, version)
  grows.current = chart?.graph.kind === 'function'
  const places = useMemo(() => chart && placesOf(chart.graph), [chart])
  const level = address.value.query['in']
  const graph = chart === null ? null : graphAt(chart.graph, level)
  const root = actors.find(({ path }) => path === (level ?? 'root'))
  // What has ended does nothing, also where its actors are gone.
  const isOver = !isUnderWay(past.status)
  return (
    <section class="chartp" aria-label="Chart">
      <div class="cap">
        <Marks mark={root?.mark ?? (isOver ? 'READY' : null)} />
        {level === undefined ? null : (
          <button type="button" class="btn" onClick={() => choose({ in: null })}>
            {`out of ${shownLine(level.replace(/^root\//, ''))}`}
          </button>
        )}
        <span class="hide-s">{graph === null ? '' : kinds[graph.kind]}</span>
      </div>
      {problem === null ? null : <Problem of={problem} />}
      {graph === null || places === null ? null : (
        <Chart graph={graph} shown={shown} drawn={drawnOf(shown, places)} />
      )}
    </section>
  )
}

function graphAt(graph: DocumentGraph, path: string | undefined): DocumentGraph {
  if (path === undefined) return graph
  for (const node of graph.nodes) {
    if (node.graph === undefined) continue
    if (node.path === path) return node.graph
    if (path.startsWith(`${node.path}/`)) return graphAt(node.graph, path)
  }
  return graph
}

/** READY, BUSY, WAITING: the state of a block, as the specification names it. */
function Marks({ mark }: { readonly mark: ActorAt['mark'] | null }) {
  const marks = { READY: 'ready', BUSY: 'running', WAITING: 'waiting' } as const
  return (
    <span class="tri" title="State of the root block">
      {Object.entries(marks).map(([name, tone]) => (
        <span key={name} class={name === mark ? `on ${tone}` : ''}>
          {name}
        </span>
      ))}
    </span>
  )
}

interface ChartProps {
  readonly graph: DocumentGraph
  readonly shown: RunShown
  readonly drawn: Drawn
}

/** What the run's past says of the nodes of its document, and of what leads from one to another. */
interface Drawn extends ChartCounts {
  readonly shownAs: ChartPlaces['shownAs']
  readonly look: (path: string) => NodeLook
}

function laidOut(graph: DocumentGraph): Layout {
  const { width } = view.value
  if (isNarrow.value) {
    const wide = layoutOf(graph, { isAcross: false, width: 128, cross: 10 })
    if (wide.width <= width - 40) return wide
    return layoutOf(graph, { isAcross: false, width: 100, cross: 8 })
  }
  const room = width - (width > WIDE ? BESIDE_WIDE : BESIDE)
  const wide = layoutOf(graph, { labelGap: 176 })
  if (wide.width * 0.88 <= room - 40) return wide
  return layoutOf(graph, { width: 122, gap: 32, labelGap: 120 })
}

function Chart({ graph, shown, drawn }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ left: 0, top: 0 })
  // Every moment and every scroll draws the same places.
  const layout = useMemo(() => laidOut(graph), [graph, view.value, isNarrow.value])
  const backs = layout.edges.some(({ isBack }) => isBack)
  const left = PAD + (leadsToFirst(layout) ? PAD_OF_LOOP : 0)
  const width = left + layout.width + PAD + (backs ? 14 : 0)
  const height = layout.height + TOP + (isNarrow.value && backs ? 26 : 10)
  const zoom = zoomOf(width, height)
  const limit = Math.max(190, view.value.height * 0.42)
  const current = layout.nodes.find(({ node }) => drawn.look(node.path).mark !== null)
  const currentPath = current?.node.path
  useEffect(() => {
    const element = box.current
    if (element === null || current === undefined) return
    const right = (current.x + current.width + left) * zoom
    const bottom = (current.y + current.height + TOP) * zoom
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = element
    if (right > scrollLeft + clientWidth) element.scrollLeft = right - clientWidth + 30
    if (bottom > scrollTop + clientHeight) element.scrollTop = bottom - clientHeight + 20
  }, [currentPath])
  const isAll = layout.nodes.length <= NODES_DRAWN_ALWAYS
  const isSeen = (x: number, y: number) =>
    isAll ||
    (x * zoom > seen.left - MARGIN &&
      x * zoom < seen.left + view.value.width + MARGIN &&
      y * zoom > seen.top - MARGIN &&
      y * zoom < seen.top + limit + MARGIN)
  return (
    <div
      class="scroll"
      ref={box}
      style={{ height: `${Math.min(height * zoom, limit)}px` }}
      onScroll={({ currentTarget }) =>
        isAll || setSeen({ left: currentTarget.scrollLeft, top: currentTarget.scrollTop })
      }
    >
      {/* biome-ignore lint/a11y/useSemanticElements: SVG has no groups of fields */}
      <svg
        class="ch"
        width={width * zoom}
        height={height * zoom}
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label={`Chart of ${shownLine(graph.name)}`}
      >
        <g transform={`translate(${left} ${TOP})`}>
          <ChartEdges
            edges={layout.edges.filter(({ label }) => isSeen(label.x, label.y))}
            taken={(from, to) => takenOf(graph, drawn, from, to)}
          />
          {layout.nodes
            .filter(({ x, y }) => isSeen(x, y))
            .map((placed) => (
              <ChartNode
                key={placed.node.path}
                placed={placed}
                look={drawn.look(placed.node.path)}
                onPick={() => pick(shown, drawn, placed.node)}
              />
            ))}
        </g>
      </svg>
    </div>
  )
}

function leadsToFirst({ nodes, edges }: Layout): boolean {
  const first = new Set(nodes.flatMap(({ node, x }) => (x === 0 ? [node.id, node.path] : [])))
  return !isNarrow.value && edges.some(({ isBack, edge }) => isBack && first.has(edge.to))
}

function zoomOf(width: number, height: number): number {
  const room =
    view.value.width - (isNarrow.value ? 0 : view.value.width > WIDE ? BESIDE_WIDE : BESIDE)
  if (isNarrow.value) return Math.max(0.76, Math.min(1, room / width))
  const tall = Math.max(190, view.value.height * 0.42) / height
  return Math.max(0.74, Math.min(1, room / width, tall))
}

function drawnOf({ past, chosen, actors }: RunShown, places: ChartPlaces): Drawn {
  const { shownAs } = places
  const counts = countsOf(past.steps, places)
  const failed = failedNodes(past.steps, places)
  const marks = new Map<string, NodeLook['mark']>()
  for (const { path, mark } of actors) {
    const node = shownAs(path)
    // Code may have called one name several times at once: one at work goes before one that waits.
    if (mark === 'BUSY' || (mark === 'WAITING' && !marks.has(node))) marks.set(node, mark)
  }
  const chosenNode = chosen === null ? null : shownAs(chosen.path)
  const look = (path: string): NodeLook => ({
    mark: marks.get(path) ?? null,
    visits: counts.visits.get(path) ?? 0,
    isFailed: failed.has(path),
    isChosen: chosenNode === path
  })
  return { ...counts, shownAs, look }
}

/** How often an edge was taken: by steps that follow each other, or by a plan's both ends. */
function takenOf(graph: DocumentGraph, drawn: Drawn, from: string, to: string): number {
  const pathOf = (id: string) => graph.nodes.find((node) => node.id === id)?.path ?? id
  const [start, end] = [pathOf(from), pathOf(to)]
  const count = drawn.edges.get(edgeKey(start, end))
  if (count !== undefined || graph.kind === 'composite' || graph.kind === 'flow') return count ?? 0
  return drawn.visits.has(start) && drawn.visits.has(end) ? 1 : 0
}

function pick({ past }: RunShown, { shownAs }: Drawn, { path, graph }: GraphNode): void {
  const isOf = (step: RunStep) => shownAs(step.path) === path
  const last = past.steps.findLast((step) => isOf(step) && !step.isFuture) ?? past.steps.find(isOf)
  if (graph !== undefined) choose({ in: path })
  if (last !== undefined) chooseStep(last)
  else if (graph === undefined) say('Not visited up to here')
}
