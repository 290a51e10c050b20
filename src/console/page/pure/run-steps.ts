import type { JournalEntry, Response } from '../../../block/index.js'

/** An entry of a journal, and the receipt that it completes. */
export interface JournalRow {
  readonly entry: JournalEntry
  readonly receiptHash: string | null
}

export type StepState = 'running' | 'waiting' | 'done' | 'failed' | 'cancelled'

/** One step of a run as its journal tells it, up to an entry. */
export interface RunStep {
  readonly path: string
  readonly step: number
  /** Its entries, by number, of the whole journal. */
  readonly entries: readonly number[]
  readonly from: number
  /** Last entry up to the one that is looked at; the last of all where none is. */
  readonly to: number
  readonly startedAt: number
  readonly endedAt: number
  readonly state: StepState
  readonly attempts: number
  readonly response: Response | null
  readonly receiptHash: string | null
  /** It begins after the entry that is looked at. */
  readonly isFuture: boolean
}

export type RunStatusThen = 'running' | 'waiting' | 'done' | 'failed' | 'cancelled'

/** What has happened in a run up to an entry. */
export interface RunPast {
  readonly status: RunStatusThen
  readonly steps: readonly RunStep[]
  /** How often each path was executed. */
  readonly visits: ReadonlyMap<string, number>
  /** How often one path followed another, by {@link edgeKey}. */
  readonly edges: ReadonlyMap<string, number>
}

/** Key of what leads from one path to another: a space is in neither. */
export const edgeKey = (from: string, to: string) => `${from} ${to}`

/** Name of a step in an address: `29.pay`. */
export const stepName = ({ path, step }: Pick<RunStep, 'path' | 'step'>) =>
  `${step}.${path.replace(/^root\//, '')}`

interface Draft {
  path: string
  step: number
  entries: number[]
  from: number
  to: number
  startedAt: number
  endedAt: number
  state: StepState
  attempts: number
  response: Response | null
  receiptHash: string | null
  isFuture: boolean
}

/** Folds a journal into steps, as they stood after entry `at`. */
export function pastOf(journal: readonly JournalRow[], at: number): RunPast {
  const drafts = new Map<string, Draft>()
  journal.forEach((row, number) => {
    const { entry } = row
    if (!('path' in entry) || entry.k === 'scope') return
    const draft = draftOf(drafts, journal, entry, number, at)
    draft.entries.push(number)
    if (number <= at || draft.isFuture) applyTo(draft, row, number)
  })
  const last = journal[at]?.entry
  const isCancelled = last?.k === 'run.finished' && last.status === 'cancelled'
  const steps = [...drafts.values()].sort((one, other) => one.from - other.from)
  if (isCancelled) for (const step of steps) if (step.response === null) step.state = 'cancelled'
  return { status: statusAt(journal, at), steps, ...countsOf(steps) }
}

function statusAt(journal: readonly JournalRow[], at: number): RunStatusThen {
  for (let number = at; number >= 0; number -= 1) {
    const entry = journal[number]?.entry
    if (entry !== undefined && 'status' in entry) return entry.status
  }
  return 'running'
}

function draftOf(
  drafts: Map<string, Draft>,
  journal: readonly JournalRow[],
  { path, step, at: time }: { path: string; step: number; at: number },
  number: number,
  at: number
): Draft {
  const key = `${path} ${step}`
  const known = drafts.get(key)
  if (known !== undefined) return known
  const draft: Draft = {
    path,
    step,
    entries: [],
    from: number,
    to: number,
    // Nothing says when a step began; it did once the entry before was applied.
    startedAt: journal[number - 1]?.entry.at ?? time,
    endedAt: time,
    state: 'running',
    attempts: 1,
    response: null,
    receiptHash: null,
    isFuture: number > at
  }
  drafts.set(key, draft)
  return draft
}

function applyTo(draft: Draft, { entry, receiptHash }: JournalRow, number: number): void {
  draft.to = number
  draft.endedAt = entry.at
  if ('attempt' in entry) draft.attempts = Math.max(draft.attempts, entry.attempt)
  if (entry.k === 'settled') {
    draft.state = entry.response.success ? 'done' : 'failed'
    draft.response = entry.response
    draft.receiptHash = receiptHash ?? draft.receiptHash
  } else if (entry.k === 'waiting' || (entry.k === 'wait' && entry.seq === null)) {
    draft.state = 'waiting'
  } else if (entry.k !== 'wait') {
    draft.state = 'running'
    draft.response = null
  }
}

function countsOf(steps: readonly Draft[]): Omit<RunPast, 'steps' | 'status'> {
  const visits = new Map<string, number>()
  const edges = new Map<string, number>()
  const before = new Map<string, string>()
  for (const { path, isFuture } of steps) {
    if (isFuture) continue
    visits.set(path, (visits.get(path) ?? 0) + 1)
    const parent = path.slice(0, path.lastIndexOf('/'))
    const previous = before.get(parent)
    if (previous !== undefined) {
      const key = edgeKey(previous, path)
      edges.set(key, (edges.get(key) ?? 0) + 1)
    }
    before.set(parent, path)
  }
  return { visits, edges }
}
