import type { ActorAt } from '../../../runtime/index.js'
import { Icon } from '../parts/icon.js'
import type { PlacedNode } from '../pure/graph-layout.js'
import { countText, shownLine } from '../pure/shown-text.js'

export interface NodeLook {
  readonly mark: Exclude<ActorAt['mark'], 'READY'> | null
  readonly visits: number
  readonly isFailed: boolean
  readonly isChosen: boolean
}

const cut = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, Math.max(1, length - 1))}…` : text

/** A node of the chart: what it is, how often it was executed, and what goes on in it. */
export function ChartNode(props: {
  readonly placed: PlacedNode
  readonly look: NodeLook
  readonly onPick: () => void
}) {
  const { placed, look, onPick } = props
  const { node, x, y, width, height } = placed
  const { mark, visits, isFailed } = look
  const id = shownLine(node.id)
  const does = shownLine(node.does)
  const said = mark ?? (visits === 0 ? 'not executed' : `executed ${countText(visits, 'time')}`)
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no buttons
    <g
      class={`nd ${classOf(look)}`}
      transform={`translate(${x} ${y})`}
      tabIndex={0}
      role="button"
      onClick={onPick}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        event.stopPropagation()
        onPick()
      }}
    >
      <desc>{`${id}, ${does}, ${said}${isFailed ? ', failed' : ''}`}</desc>
      <rect class="bx" width={width} height={height} rx="8" />
      {node.graph === undefined ? null : (
        <rect class="bx in" x="3" y="3" width={width - 6} height={height - 6} rx="6" />
      )}
      <text x="10" y="18">
        {cut(id, Math.floor(width / 8.6))}
      </text>
      {visits > 1 ? <text class="cnt" x={width - 9} y="18">{`×${visits}`}</text> : null}
      <text class="t2" x="10" y="31">
        {cut(does, Math.floor(width / 7.2))}
      </text>
      {mark === null ? null : <Phase mark={mark} />}
      {node.confirm && !(mark !== null && width < 110) ? (
        <g class="sign" transform={`translate(${width - 22} 33) scale(.8)`}>
          <title>asks before it acts</title>
          <Icon name="shield" />
        </g>
      ) : null}
      {isFailed ? (
        <g class="sign failed" transform={`translate(${width - 22} 33) scale(.8)`}>
          <Icon name="failed" />
        </g>
      ) : null}
    </g>
  )
}

function classOf({ mark, visits, isFailed, isChosen }: NodeLook): string {
  const names = [mark === null ? (visits > 0 ? 'vis' : 'unv') : 'cur']
  if (mark !== null) names.push(mark === 'WAITING' ? 'waiting' : 'running')
  if (isFailed) names.push('failed')
  if (isChosen) names.push('sel')
  return names.join(' ')
}

/** Which of the three states a block is in, as a place and as a word. */
function Phase({ mark }: { readonly mark: 'BUSY' | 'WAITING' }) {
  return (
    <>
      {['READY', 'BUSY', 'WAITING'].map((name, index) => (
        <rect
          key={name}
          class={name === mark ? 'pip on' : 'pip'}
          x={10 + index * 12}
          y="39.5"
          width="10"
          height="3"
          rx="1.5"
        />
      ))}
      <text class="t3" x="49" y="44.5">
        {mark}
      </text>
    </>
  )
}
