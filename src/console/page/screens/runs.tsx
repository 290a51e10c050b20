import type { RunFilter, RunLine } from '../../../runtime/index.js'
import { ask } from '../client/api.js'
import { after } from '../client/browser.js'
import { changes, now } from '../client/live.js'
import { address, choose } from '../client/navigation.js'
import { usePages } from '../client/query.js'
import { Pill, Problem } from '../parts/basics.js'
import { moveRow, useKeys } from '../parts/keys.js'
import { Rows } from '../parts/rows.js'
import { linkTo } from '../pure/addresses.js'
import { filterIn, statuses } from '../pure/live-lists.js'
import { countText, shownId, shownLine, shownPath } from '../pure/shown-text.js'
import { clockText, dayText, tookText, untilText } from '../pure/time-text.js'
import { runCounts } from './counts.js'
import { SafeMode } from './safe-mode.js'
import { isNarrow } from './width.js'

const PAGE_ROWS = 200
const FILTER = 'filter-of-runs'
const DELAY_OF_TYPING_MS = 150

/** All runs, newest first: what each waits for, or why it failed, without opening it. */
export function Runs() {
  const { query } = address.value
  const filter: RunFilter = { ...filterIn(query['text'] ?? ''), ...statusIn(query['status']) }
  const version = changes.value.runs
  const list = usePages(JSON.stringify(filter), version, (cursor, signal) =>
    ask('find', { ...filter, limit: PAGE_ROWS, ...(cursor === null ? {} : { cursor }) }, signal)
  )
  useKeys({
    j: () => moveRow(1),
    k: () => moveRow(-1),
    '/': () => document.getElementById(FILTER)?.focus()
  })
  const runs = list.value ?? []
  const isEmpty = list.value !== null && runs.length === 0
  return (
    <div class="col">
      <SafeMode />
      <Filters />
      {list.problem === null ? null : <Problem of={list.problem} />}
      <Rows
        className="tbl runs"
        label="Runs, newest first"
        count={runs.length}
        rowHeight={isNarrow.value ? 56 : 34}
        more={list.more}
        head={<Head />}
        empty={isEmpty ? <Nothing isFiltered={Object.keys(filter).length > 0} /> : null}
        row={(index) => {
          const run = runs[index]
          return run === undefined ? null : <Row key={run.id} run={run} />
        }}
      />
    </div>
  )
}

function statusIn(text: string | undefined): RunFilter {
  const status = statuses.find((known) => known === text)
  return status === undefined ? {} : { status }
}

let endTyping = () => {}

function Filters() {
  const { query } = address.value
  const counts = runCounts.value
  const hasImported = (counts?.byStatus.imported ?? 0) > 0
  return (
    <div class="bar">
      <Chip status={null} label="All" count={counts?.all} />
      {statuses.slice(0, hasImported ? 6 : 5).map((status) => (
        <Chip
          key={status}
          status={status}
          label={`${status.charAt(0).toUpperCase()}${status.slice(1)}`}
          count={counts === null ? undefined : (counts.byStatus[status] ?? 0)}
        />
      ))}
      <div class="grow hide-s" />
      <input
        class="inp filter"
        id={FILTER}
        placeholder="status:waiting name:freight …"
        aria-label="Filter the runs"
        value={query['text'] ?? ''}
        onInput={({ currentTarget: { value } }) => {
          endTyping()
          endTyping = after(DELAY_OF_TYPING_MS, () => choose({ text: value === '' ? null : value }))
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') moveRow(1)
        }}
      />
    </div>
  )
}

function Chip(props: {
  readonly status: string | null
  readonly label: string
  readonly count: number | undefined
}) {
  const { status, label, count } = props
  const isOn = (address.value.query['status'] ?? null) === status
  return (
    <button type="button" class="chip" aria-pressed={isOn} onClick={() => choose({ status })}>
      {label}
      {count === undefined ? null : <b class="num">{count}</b>}
    </button>
  )
}

function Head() {
  return (
    <div class="th" aria-hidden="true">
      {['Status', 'Run', 'Document', 'Receipts', 'Now', 'Started', 'Took', 'Entries'].map(
        (name) => (
          <span key={name}>{name}</span>
        )
      )}
    </div>
  )
}

function Row({ run }: { readonly run: RunLine }) {
  const { id, name, status, startedAt, updatedAt, entries } = run
  const isOpen = status === 'running' || status === 'waiting'
  return (
    <a class="trow" href={linkTo('runs', id)} data-row="">
      <span>
        <Pill status={status} />
      </span>
      <b class="tr">{shownId(id)}</b>
      <span class="mut tr c-name">{shownLine(name)}</span>
      <span class="c-bits">
        <Bits run={run} />
      </span>
      <span class="tr c-now">
        <Now run={run} />
      </span>
      <span class="num c-start" title={dayText(startedAt)}>
        {clockText(startedAt)}
      </span>
      <span class="num r">{tookText((isOpen ? now.value : updatedAt) - startedAt)}</span>
      <span class="num r mut c-entries">{entries}</span>
    </a>
  )
}

/** What it waits for, and until when, or why it failed. */
function Now({ run }: { readonly run: RunLine }) {
  const [wait] = run.waits
  const more = run.waits.length > 1 ? `, ${run.waits.length - 1} more` : ''
  if (run.quarantined) return <span class="failed ink">quarantined</span>
  if (run.problem !== undefined) return <span class="failed ink">{shownLine(run.problem)}</span>
  if (wait !== undefined) {
    const text = `${shownLine(wait.reason)}, ${shownPath(wait.path)}${more}`
    return <span class="waiting ink">{text}</span>
  }
  if (run.failure !== null) return <span class="failed ink">{shownLine(run.failure)}</span>
  const { status, queued, due } = run
  if (queued !== undefined) {
    return <span class="waiting ink">{`in queue ${shownLine(queued.name)}`}</span>
  }
  if (status !== 'waiting' || due === null) return null
  return <span class="waiting ink">{`until ${untilText(due, now.value)}`}</span>
}

const BITS_MAX = 26
const BIT_WIDTH = 4.3

/** A notch for each receipt, and one for what is going on. */
function Bits({ run: { receipts, status } }: { readonly run: RunLine }) {
  const isOver = status === 'done' || status === 'cancelled'
  // A count that is not known is that of a long run.
  const count = Math.min(BITS_MAX, (receipts ?? BITS_MAX) + (isOver ? 0 : 1))
  const said = receipts === null ? 'many receipts' : countText(receipts, 'receipt')
  return (
    <svg width={BITS_MAX * BIT_WIDTH} height="16" role="img" aria-label={said}>
      {Array.from({ length: count }, (_, index) => {
        const isLast = !isOver && index === count - 1
        return (
          <rect
            key={index}
            class={isLast ? status : 'done'}
            x={index * BIT_WIDTH}
            y={isLast ? 1 : 4}
            width="3"
            height={isLast ? 14 : 8}
            rx="1"
          />
        )
      })}
    </svg>
  )
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) return <div class="empty">No run has begun in this ledger.</div>
  return (
    <div class="empty">
      No run is like that.{' '}
      <button type="button" class="btn" onClick={() => choose({ status: null, text: null })}>
        Show all
      </button>
    </div>
  )
}
