import { type CompiledDocument, type CompiledWithChildren, mermaidId } from '../../block/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import { Coverage, edgesOf, keyOf } from './coverage.js'
import type { Play } from './play.js'
import { calledPlaces } from './step-coverage.js'

export interface PathParts {
  readonly play: Play
  readonly inputs: readonly Json[]
  readonly context: JsonObject
  /** Absent: where the play has come last. */
  readonly failedAt: string | undefined
}

/**
 * A document's graph as a Mermaid `flowchart`: what a play has entered and the arrows that it has
 * taken in one colour, the node where it went wrong and the arrows to it in another. State diagrams
 * of Mermaid have no colours for arrows.
 */
export function drawPath(compiled: CompiledWithChildren, parts: PathParts): string {
  if (compiled.kind === 'function') return drawn(calledGraph(parts), parts.failedAt)
  const { play, inputs, context } = parts
  const coverage = new Coverage(compiled)
  coverage.add(play, { inputs, context })
  const { taken, entered } = coverage.left()
  // In the order in which they were entered first.
  const path = [...new Set(entered.flatMap((one) => one.split('/')[1] ?? []))]
  const isEntered = (name: string) => path.includes(name)
  const arrows = arrowsOf(compiled, { isEntered, isTaken: (key) => taken.includes(key) })
  return drawn({ names: [...compiled.nodes.keys()], path, arrows }, parts.failedAt)
}

/** A workflow in code has no graph but what it did: its calls in order, all of them taken. */
function calledGraph({ play }: PathParts): DrawnGraph {
  const names = new Set<string>()
  const arrows = new Map<string, Arrow>()
  for (const entries of play.journals.values()) {
    const placeOf = calledPlaces()
    let from = START
    for (const entry of entries) {
      const place = placeOf(entry)
      if (place === undefined) continue
      const name = place.slice('root/'.length)
      const to = mermaidId(name)
      names.add(name)
      arrows.set(`${from} ${to}`, { from, to, label: '', isTaken: true })
      from = to
    }
  }
  return { names: [...names], path: [...names], arrows: [...arrows.values()] }
}

interface DrawnGraph {
  readonly names: readonly string[]
  /** Those that were entered, in order. */
  readonly path: readonly string[]
  readonly arrows: readonly Arrow[]
}

function drawn({ names, path, arrows }: DrawnGraph, failedAt: string | undefined): string {
  const failing = failedAt ?? path.at(-1)
  const isFailing = ({ to }: Arrow) => failing !== undefined && to === mermaidId(failing)
  const places = (isWanted: (arrow: Arrow) => boolean) =>
    arrows.flatMap((arrow, place) => (arrow.isTaken && isWanted(arrow) ? [place] : []))
  const others = path.filter((name) => name !== failing)
  return [
    'flowchart TD',
    ...names.map((name) => `  ${mermaidId(name)}["${quoted(name)}"]`),
    ...arrows.map(({ from, to, label }) => `  ${from} -->${label && `|"${quoted(label)}"|`} ${to}`),
    `  classDef taken fill:#fde68a,stroke:${TAKEN}`,
    `  classDef failing fill:#fecaca,stroke:${FAILING}`,
    ...classLine(others, 'taken'),
    ...classLine(failing === undefined ? [] : [failing], 'failing'),
    ...styleLine(
      places((arrow) => !isFailing(arrow)),
      TAKEN
    ),
    ...styleLine(places(isFailing), FAILING),
    ''
  ].join('\n')
}

const TAKEN = '#b45309'
const FAILING = '#b91c1c'
/** No node has these ids: those of nodes begin with `s_`. */
const START = 'start((" "))'
const END = 'finish(((" ")))'

/** By the ids of the drawing. */
interface Arrow {
  readonly from: string
  readonly to: string
  readonly label: string
  readonly isTaken: boolean
}

function arrowsOf(
  compiled: CompiledDocument,
  of: { isEntered(name: string): boolean; isTaken(key: string): boolean }
): readonly Arrow[] {
  if (compiled.kind === 'plan') {
    const { nodes } = compiled.plan
    return nodes.flatMap(({ name, deps }) =>
      deps.map((dep) => {
        const from = mermaidId(nodes[dep]?.name ?? '')
        return { from, to: mermaidId(name), label: '', isTaken: of.isEntered(name) }
      })
    )
  }
  const { entry } = compiled.plan
  const first = { from: START, to: mermaidId(entry), label: '', isTaken: of.isEntered(entry) }
  const own = edgesOf(compiled, 'root').filter(({ parent }) => parent === 'root')
  const edges = own.map((edge): Arrow => {
    const to = edge.index === -1 ? END : mermaidId(edge.to)
    const isTaken = of.isTaken(keyOf(edge))
    // The only way needs no word.
    const isOnly = own.filter(({ from }) => from === edge.from).length === 1
    return { from: mermaidId(edge.from), to, label: isOnly ? '' : edge.label, isTaken }
  })
  return [first, ...edges]
}

/** Mermaid reads quotes and numbers of characters inside a text. */
function quoted(text: string): string {
  return text.replaceAll('#', '#35;').replaceAll('"', '#quot;').replaceAll(/\s+/g, ' ')
}

function classLine(names: readonly string[], style: string): readonly string[] {
  return names.length === 0 ? [] : [`  class ${names.map(mermaidId).join(',')} ${style}`]
}

function styleLine(places: readonly number[], colour: string): readonly string[] {
  if (places.length === 0) return []
  return [`  linkStyle ${places.join(',')} stroke:${colour},stroke-width:3px`]
}
