import type { JournalEntry } from '../../../block/index.js'
import type { Response } from '../../../code/index.js'
import type { ActorAt } from '../../../runtime/index.js'

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

/** Whether a step, or a run, has not ended. */
export const isUnderWay = (state: StepState | RunStatusThen) =>
  state === 'running' || state === 'waiting'

/** What has happened in a run up to an entry. */
export interface RunPast {
  readonly status: RunStatusThen
  readonly steps: readonly RunStep[]
}

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

/**
 * Folds a journal into steps, as they stood after entry `at`. Whether a step that failed is tried
 * again, no journal says at once: {@link asCharted} does.
 */
export function pastOf(journal: readonly JournalRow[], at: number): RunPast {
  const drafts = new Map<string, Draft>()
  journal.forEach((row, number) => {
    const { entry } = row
    if (entry.k === 'cancel' || entry.k === 'run.finished') {
      for (const draft of drafts.values()) {
        if (number <= at || draft.isFuture) endWithRun(draft, entry, number)
      }
    }
    if (!('path' in entry) || entry.k === 'scope') return
    const draft = draftOf(drafts, journal, entry, number, at)
    draft.entries.push(number)
    if (number <= at || draft.isFuture) applyTo(draft, row, number)
  })
  const steps = [...drafts.values()].sort((one, other) => one.from - other.from)
  return { status: statusAt(journal, at), steps }
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
  // An answer to an attempt that is over is kept, and changes nothing any more.
  if (entry.k === 'sealed' && !isUnderWay(draft.state) && entry.attempt <= draft.attempts) return
  draft.to = number
  draft.endedAt = entry.at
  if ('attempt' in entry) draft.attempts = Math.max(draft.attempts, entry.attempt)
  switch (entry.k) {
    case 'settled':
      draft.state = entry.response.success ? 'done' : 'failed'
      draft.response = entry.response
      draft.receiptHash = receiptHash ?? draft.receiptHash
      return
    case 'waiting':
      draft.state = 'waiting'
      return
    case 'wait':
      if (entry.seq === null) draft.state = 'waiting'
      return
    // What waits goes on waiting until it is answered, asks again, or acts.
    case 'approval':
    case 'answered':
    case 'rewound':
      return
    case 'decision':
      if (entry.action === 'skip' || entry.action === 'abort') {
        draft.state = entry.action === 'skip' ? 'done' : 'failed'
        return
      }
  }
  draft.state = 'running'
  draft.response = null
}

/** Steps do nothing after the end of their run; code of a workflow ends as its run does. */
function endWithRun(draft: Draft, entry: JournalEntry, number: number): void {
  if (!isUnderWay(draft.state)) return
  const isCode = entry.k === 'run.finished' && draft.path === 'root'
  draft.state = isCode ? entry.status : 'cancelled'
  draft.endedAt = entry.at
  if (isCode) draft.to = number
}

/**
 * The past with what the charts say of an open run's steps: `actors` as of the same entry. A step
 * that failed and is tried again is under way.
 */
export function asCharted(past: RunPast, actors: readonly ActorAt[]): RunPast {
  if (!isUnderWay(past.status)) return past
  const actorOf = new Map(actors.map((actor) => [`${actor.path} ${actor.step}`, actor]))
  const steps = past.steps.map((step) => {
    const actor = step.isFuture ? undefined : actorOf.get(`${step.path} ${step.step}`)
    return actor === undefined ? step : { ...step, state: chartedState(actor, step.state) }
  })
  return { ...past, steps }
}

function chartedState({ mark, ended }: ActorAt, state: StepState): StepState {
  if (mark === 'BUSY') return 'running'
  if (mark === 'WAITING') return 'waiting'
  if (!isUnderWay(state) || ended === null) return state
  return ended === 'succeeded' ? 'done' : 'failed'
}

/** The step that failed first, of those that have. */
export function firstFailure({ steps }: RunPast): RunStep | undefined {
  return steps
    .filter(({ state, isFuture }) => state === 'failed' && !isFuture)
    .reduce<RunStep | undefined>(
      (first, step) => (first === undefined || step.to < first.to ? step : first),
      undefined
    )
}
