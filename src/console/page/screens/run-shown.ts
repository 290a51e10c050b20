import type { ActorAt, RunView } from '../../../runtime/index.js'
import { now } from '../client/live.js'
import { choose } from '../client/navigation.js'
import {
  isUnderWay,
  type JournalRow,
  type RunPast,
  type RunStep,
  stepName
} from '../pure/run-steps.js'
import { isNarrow } from './width.js'

/** What the parts of the view of a run show: the run, its journal, and where one stands in it. */
export interface RunShown {
  readonly run: RunView
  readonly journal: readonly JournalRow[]
  /** Where its charts stand; empty where it has ended, and before that is known. */
  readonly actors: readonly ActorAt[]
  /** Entry that the run is shown after. */
  readonly at: number
  /** It is shown as it is now, and follows what happens. */
  readonly isNow: boolean
  readonly past: RunPast
  readonly chosen: RunStep | null
}

/** Shows the run after an entry; after the last one, it is followed. */
export function standAt({ journal }: Pick<RunShown, 'journal'>, at: number): void {
  const last = journal.length - 1
  choose({ at: at >= last ? null : Math.max(0, at), step: null })
}

/** How long a step took, or has taken up to where the run is looked at. */
export function tookMs({ journal, at, isNow }: RunShown, step: RunStep): number {
  const isOver = step.isFuture || !isUnderWay(step.state)
  const end = isOver ? step.endedAt : isNow ? now.value : (journal[at]?.entry.at ?? step.endedAt)
  return Math.max(0, end - step.startedAt)
}

export function chooseStep(step: Pick<RunStep, 'path' | 'step'>): void {
  choose({ step: stepName(step), ...(isNarrow.value ? { tab: 'detail' } : {}) })
}
