import type { PlacedEdge } from '../pure/graph-layout.js'
import { shownLine } from '../pure/shown-text.js'

export interface ChartEdgesProps {
  readonly edges: readonly PlacedEdge[]
  readonly taken: (from: string, to: string) => number
}

/** Edges with the order of first match and their conditions; those that were taken stand out. */
export function ChartEdges({ edges, taken }: ChartEdgesProps) {
  const counted = edges.map((placed) => ({
    placed,
    count: taken(placed.edge.from, placed.edge.to),
    key: `${placed.edge.from} ${placed.edge.to} ${placed.edge.order}`
  }))
  const choices = new Map<string, number>()
  for (const { edge } of edges) choices.set(edge.from, (choices.get(edge.from) ?? 0) + 1)
  const lines = [...counted].sort((one, other) => one.count - other.count)
  return (
    <>
      <defs>
        <Arrow id="arrow" tone="plain" />
        <Arrow id="arrow-taken" tone="taken" />
      </defs>
      {lines.map(({ placed, count, key }) => (
        <path
          key={key}
          class={count > 0 ? 'eg tk' : 'eg'}
          d={placed.line}
          marker-end={count > 0 ? 'url(#arrow-taken)' : 'url(#arrow)'}
        >
          <title>{saidOf(placed, count)}</title>
        </path>
      ))}
      {counted.map(({ placed, key }) => (
        <Label key={key} placed={placed} isChoice={(choices.get(placed.edge.from) ?? 0) > 1} />
      ))}
    </>
  )
}

function saidOf({ edge: { from, to, when } }: PlacedEdge, count: number): string {
  const condition = when === null ? '' : ` if ${when}`
  const often = count === 0 ? '' : `, taken ${count} times`
  return shownLine(`${from} to ${to}${condition}${often}`)
}

function Arrow({ id, tone }: { readonly id: string; readonly tone: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="6.5"
      markerHeight="6.5"
      orient="auto"
    >
      <path class={`tip ${tone}`} d="M0 .8L7 4 0 7.2z" />
    </marker>
  )
}

/** Width of a letter of labels, whose font has one for all. */
const LETTER = 6

function fitted(text: string, room: number): string {
  const length = Math.max(2, Math.floor(room / LETTER))
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

/** Condition and order; where there is no other way, there is nothing to say. */
function Label(props: { readonly placed: PlacedEdge; readonly isChoice: boolean }) {
  const { placed, isChoice } = props
  const { edge, label, badge } = placed
  if (edge.when === null && (edge.order === null || !isChoice)) return null
  const text = shownLine((edge.when ?? 'otherwise').replaceAll('response.data.', ''))
  return (
    <>
      {badge === null || edge.order === null ? null : (
        <>
          <circle class="eob" cx={badge.x} cy={badge.y} r="7" />
          <text class="eo" x={badge.x} y={badge.y}>
            {edge.order}
          </text>
        </>
      )}
      <text class="el" x={label.x} y={label.y}>
        <title>{shownLine(edge.when ?? 'otherwise')}</title>
        {fitted(text, label.room)}
      </text>
    </>
  )
}
