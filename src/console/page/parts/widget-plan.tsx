import type { Json } from '../../../core/index.js'
import { shownLine, shownText } from '../pure/shown-text.js'
import { type PlacedWidget, type Widget, widgetsOf } from '../pure/widgets.js'
import { JsonView } from './json-view.js'

/** A result as it asks to be shown, drawn from a fixed set of widgets: no HTML, no addresses. */
export function WidgetPlan({ plan }: { readonly plan: Json }) {
  return (
    <div class="ui">
      {widgetsOf(plan).map((placed) => (
        <Placed key={placed.key} placed={placed} />
      ))}
    </div>
  )
}

const narrow: ReadonlySet<Widget['kind']> = new Set(['stat', 'progress'])

function Placed({ placed }: { readonly placed: PlacedWidget }) {
  const { widget } = placed
  const title = shownLine(placed.title)
  return (
    <div class={narrow.has(widget.kind) ? '' : 'wide'}>
      {title === '' ? null : <h3>{title}</h3>}
      <Drawn widget={widget} title={title} />
    </div>
  )
}

function Drawn({ widget, title }: { readonly widget: Widget; readonly title: string }) {
  switch (widget.kind) {
    case 'stat':
      return (
        <div class="v num">
          {shownLine(widget.value)} <span class="mut unit">{shownLine(widget.unit)}</span>
        </div>
      )
    case 'table':
      return <Table columns={widget.columns} rows={widget.rows} />
    case 'list':
      return (
        <ul>
          {widget.items.map((item, place) => (
            <li key={place}>{shownLine(item)}</li>
          ))}
        </ul>
      )
    case 'text':
      return <p class="said">{shownText(widget.text)}</p>
    case 'code':
      return <pre class="js">{shownText(widget.text)}</pre>
    case 'key-value':
      return (
        <dl class="kv">
          {widget.members.map(([name, value]) => (
            <div key={name}>
              <dt>{shownLine(name)}</dt>
              <dd>{shownLine(value)}</dd>
            </div>
          ))}
        </dl>
      )
    case 'progress':
      return (
        <>
          <progress aria-label={title === '' ? 'Progress' : title} {...widget} />
          <span class="mut num">{` ${Math.round((widget.value / widget.max) * 100)} %`}</span>
        </>
      )
    case 'chart':
      return <Columns widget={widget} title={title} />
    case 'json':
      return (
        <>
          {widget.problem === null ? null : (
            <p class="mut">{`${shownLine(widget.problem)}; as data`}</p>
          )}
          <JsonView value={widget.data} label={title === '' ? 'Data' : title} />
        </>
      )
  }
}

function Table(props: { columns: readonly string[]; rows: readonly (readonly string[])[] }) {
  return (
    <table>
      <thead>
        <tr>
          {props.columns.map((name) => (
            <th key={name} scope="col">
              {shownLine(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row, place) => (
          <tr key={place}>
            {row.map((cell, column) => (
              <td key={column}>{shownLine(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const WIDTH = 300
const HEIGHT = 90

function Columns(props: { widget: Extract<Widget, { kind: 'chart' }>; title: string }) {
  const { points } = props.widget
  const values = points.map(({ value }) => value)
  const top = Math.max(0, ...values)
  const bottom = Math.min(0, ...values)
  const scale = HEIGHT / Math.max(1e-12, top - bottom)
  const step = WIDTH / points.length
  const said = points.map(({ label, value }) => `${label} ${value}`).join(', ')
  return (
    <svg
      class="columns"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={shownLine(`${props.title}: ${said}`)}
    >
      {points.map(({ label, value }, place) => (
        <rect
          key={place}
          x={(place + 0.15) * step}
          y={(top - Math.max(0, value)) * scale}
          width={step * 0.7}
          height={Math.max(1, Math.abs(value) * scale)}
        >
          <title>{shownLine(`${label} ${value}`)}</title>
        </rect>
      ))}
    </svg>
  )
}
