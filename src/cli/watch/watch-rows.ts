import { isJsonObject, type Json, limits } from '../../core/index.js'
import { awaited, nodeName, shortValue, statusStyles } from '../frame/render.js'
import type { ScreenSize } from '../frame/screen.js'
import { columnsOf, fitted, joined, type Paint, Text, text } from '../frame/text.js'
import { isOpen, type WatchedRun, type WatchedRuns } from './watched-runs.js'

/** What a watch draws. */
export interface WatchPicture {
  readonly runs: WatchedRuns
  /** Whether the runs are known that were there when it began. */
  readonly hasBegun: boolean
  /** The ledger, as the command line named it. */
  readonly ledger: string
  /** How it stands, where that is not as usual. */
  readonly mode: string | undefined
  readonly now: number
}

/** Widths of the columns before the last, at most; what is narrower leaves out some. */
const ID_COLUMNS = 28
const ID_SHARE = 0.4
const MARK_COLUMNS = 2
const NAME_COLUMNS = 20
const STATUS_COLUMNS = 11
const AGE_COLUMNS = 5
const STEP_COLUMNS = 24
const GAP = '  '
/** Below these widths of a terminal a column is left out: the document, then the step. */
const NAME_FROM_COLUMNS = 90
const STEP_FROM_COLUMNS = 60

interface Column {
  readonly head: string
  readonly columns: number
  readonly cell: (run: WatchedRun) => string
}

/** The table of a watch, as it fits: what waits and what runs before what has ended. */
export function watchPicture(
  paint: Paint,
  { runs, hasBegun, ledger, mode, now }: WatchPicture,
  { columns, rows }: ScreenSize
): readonly Text[] {
  const ordered = inOrder(runs.all)
  const head = headLine(paint, ordered, { ledger, mode, columns })
  const foot = footLine(ordered, { runs, columns })
  const space = Math.max(1, rows - FIXED_ROWS)
  const isCut = ordered.length > space
  const shown = ordered.slice(0, isCut ? space - 1 : space)
  const layout = columnsFor(shown, columns, now)
  const lines = shown.map((run) => runLine(paint, run, { layout, runs, now, columns }))
  const more = isCut ? [paint('dim', `  … ${ordered.length - shown.length} more`)] : []
  const title = paint('dim', fitted(titleOf(layout), columns))
  const empty = hasBegun ? '  no runs yet' : '  reading the ledger…'
  const none = ordered.length === 0 ? [paint('dim', fitted(empty, columns))] : []
  return [head, text``, title, ...lines, ...more, ...none, text``, paint('dim', foot)]
}

/** Head, title, foot, and the lines between them that are empty. */
const FIXED_ROWS = 5

const ranks = { waiting: 0, imported: 1, running: 2, failed: 3, done: 3, cancelled: 3 } as const

/** What is open, in the order of the table. */
export function openRuns({ all }: Pick<WatchedRuns, 'all'>): readonly WatchedRun[] {
  return inOrder(all).filter(isOpen)
}

/** What waits, the longest first; what runs, the oldest first; what has ended, the last first. */
function inOrder(all: readonly WatchedRun[]): readonly WatchedRun[] {
  const rank = (run: WatchedRun) => (run.waits.length > 0 ? 0 : ranks[run.status])
  return all.toSorted((one, other) => {
    const order = rank(one) - rank(other)
    if (order !== 0) return order
    const since = sinceOf(one) - sinceOf(other)
    return (isOpen(one) ? since : -since) || (one.id < other.id ? -1 : 1)
  })
}

function headLine(
  paint: Paint,
  all: readonly WatchedRun[],
  { ledger, mode, columns }: { ledger: string; mode: string | undefined; columns: number }
): Text {
  const count = (isCounted: (run: WatchedRun) => boolean) => all.filter(isCounted).length
  const waiting = count(({ status, waits }) => status === 'waiting' || waits.length > 0)
  const running = count(({ status, waits }) => status === 'running' && waits.length === 0)
  const failed = count(({ status }) => status === 'failed')
  const told = `${waiting} waiting, ${running} running, ${failed} failed`
  const name = fitted(`tally watch ${ledger}`, columns)
  const rest = columns - columnsOf(name) - GAP.length
  if (rest < 1) return paint('bold', name)
  const state = mode === undefined ? told : `${mode} · ${told}`
  const style = mode === undefined ? (waiting > 0 ? 'yellow' : 'dim') : 'red'
  return joined([paint('bold', name), paint(style, fitted(state, rest))], GAP)
}

function footLine(
  all: readonly WatchedRun[],
  { runs, columns }: { readonly runs: WatchedRuns; readonly columns: number }
): string {
  const [first] = new Set(all.flatMap(({ notChecked }) => notChecked))
  const left = runs.left === 0 ? '' : ` · ${runs.left} older runs are not kept`
  const unchecked = first === undefined ? '' : ` · not checked: ${first}`
  return fitted(`q ends${left}${unchecked}`, columns)
}

function columnsFor(shown: readonly WatchedRun[], columns: number, now: number): readonly Column[] {
  const idColumns = Math.min(ID_COLUMNS, Math.floor(columns * ID_SHARE))
  const all: readonly (Column & { readonly from?: number })[] = [
    { head: 'RUN', columns: idColumns, cell: ({ id }) => id },
    { head: 'DOCUMENT', columns: NAME_COLUMNS, cell: ({ name }) => name, from: NAME_FROM_COLUMNS },
    { head: 'STATUS', columns: STATUS_COLUMNS, cell: statusOf },
    { head: 'AGE', columns: AGE_COLUMNS, cell: (run) => ageText(now - sinceOf(run)) },
    { head: 'STEP', columns: STEP_COLUMNS, cell: stepText, from: STEP_FROM_COLUMNS }
  ]
  let left = columns - MARK_COLUMNS
  const fitting: Column[] = []
  for (const { from = 0, ...column } of all) {
    if (columns < from) continue
    const needed = shown.map((run) => columnsOf(fitted(column.cell(run), column.columns)))
    const wanted = Math.max(column.head.length, ...needed)
    const width = Math.min(wanted, left)
    if (width > 0) fitting.push({ ...column, columns: width })
    left -= width + GAP.length
  }
  return fitting
}

function titleOf(layout: readonly Column[]): string {
  const heads = layout.map(({ head, columns }) => head.padEnd(columns))
  return `  ${[...heads, 'WAITS FOR'].join(GAP)}`
}

function runLine(
  paint: Paint,
  run: WatchedRun,
  {
    layout,
    runs,
    now,
    columns
  }: {
    readonly layout: readonly Column[]
    readonly runs: WatchedRuns
    readonly now: number
    readonly columns: number
  }
): Text {
  const changedAt = runs.changedAt(run.id)
  const isFresh = changedAt !== undefined && now - changedAt < limits.WATCH_FRESH_MS
  const needsEyes = isFresh && (run.waits.length > 0 || !isFine(run))
  const mark = needsEyes ? '!' : isFresh ? '*' : ' '
  const cells = layout.map((column) => {
    const shown = filled(column.cell(run), column.columns)
    if (column.head === 'STATUS') return paint(styleOf(run), shown)
    return needsEyes && column.head === 'RUN' ? paint('bold', shown) : new Text(shown)
  })
  const used = layout.reduce((sum, column) => sum + column.columns + GAP.length, MARK_COLUMNS)
  const why = fitted(whyOf(run), Math.max(0, columns - used))
  const rest = why === '' ? [] : [paint(styleOfWhy(run), why)]
  return joined(
    [paint(needsEyes ? 'bold' : 'dim', `${mark} `), joined([...cells, ...rest], GAP)],
    ''
  )
}

function styleOfWhy(run: WatchedRun) {
  return isFine(run) ? (isOpen(run) ? 'yellow' : 'dim') : 'red'
}

function isFine(run: WatchedRun): boolean {
  const isRight = run.problem === undefined && !run.quarantined
  return isRight && run.status !== 'failed' && run.status !== 'cancelled'
}

function styleOf(run: WatchedRun) {
  return run.quarantined || run.problem !== undefined ? 'red' : statusStyles[run.status]
}

function statusOf({ status, quarantined }: WatchedRun): string {
  return quarantined ? 'quarantined' : status
}

/** What a run waits for, or why it ended as it did. */
export function whyOf(run: WatchedRun): string {
  const { problem, failure, waits } = run
  if (problem !== undefined) return problem
  if (failure !== null) return failure
  const [wait, ...others] = waits
  if (wait !== undefined) {
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    return `${wait.reason}${more} ${shortValue(askedIn(wait))}`
  }
  return awaited(run)
}

/** What is asked, without what stands beside it anyway. */
function askedIn({ reason, request }: WatchedRun['waits'][number]): Json {
  if (!isJsonObject(request) || request['reason'] !== reason) return request
  const { reason: _, ...rest } = request
  const [only, ...others] = Object.keys(rest)
  return only === 'request' && others.length === 0 ? (rest[only] ?? null) : rest
}

/** `pay 3, attempt 2`: the node, its number among the steps, and the attempt after the first. */
export function stepText({ step }: WatchedRun): string {
  if (step === null) return ''
  const tries = step.attempt > 1 ? `, attempt ${step.attempt}` : ''
  return `${nodeName(step.path)} ${step.step}${tries}`
}

/** Of what is open: since when it is what it is; of what has ended: since then. */
function sinceOf({ status, startedAt, updatedAt }: WatchedRun): number {
  return status === 'running' ? startedAt : updatedAt
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000]
] as const

/** An age in its greatest unit, as `3m`. */
export function ageText(ageMs: number): string {
  for (const [unit, ms] of units) if (ageMs >= ms) return `${Math.floor(ageMs / ms)}${unit}`
  return '0s'
}

function filled(raw: string, columns: number): string {
  const shown = fitted(raw, columns)
  return shown + ' '.repeat(Math.max(0, columns - columnsOf(shown)))
}
