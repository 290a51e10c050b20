import { useEffect } from 'preact/hooks'
import type { ChartAt, RunView } from '../../../runtime/index.js'
import { useJournal } from '../client/journal.js'
import { changes, now } from '../client/live.js'
import { address, choose, go } from '../client/navigation.js'
import { useQuery } from '../client/query.js'
import { Pill, Problem, Said } from '../parts/basics.js'
import { overlay, useKeys } from '../parts/keys.js'
import { linkTo } from '../pure/addresses.js'
import { asCharted, firstFailure, type JournalRow, pastOf, stepName } from '../pure/run-steps.js'
import { shownId, shownLine } from '../pure/shown-text.js'
import { clockText, tookText } from '../pure/time-text.js'
import { ChartPanel } from './run-chart.js'
import { RunPanel } from './run-panel.js'
import { chooseStep, type RunShown, standAt } from './run-shown.js'
import { StateButton } from './state-link.js'
import { StepPanel } from './step-panel.js'
import { Timeline } from './timeline.js'
import { Turns } from './turns.js'
import { isNarrow } from './width.js'

/** One run, live or past: chart and timeline choose each other, and both follow the stick. */
export function Run({ id }: { readonly id: string }) {
  const version = changes.value.runs
  const { value: run, problem } = useQuery('show', { id }, version)
  const { rows: journal, problem: journalProblem } = useJournal(id)
  if (problem !== null) return <Problem of={problem} />
  if (run === null) return <div class="empty">Reading the run …</div>
  if (journal.length === 0 && journalProblem !== null) return <Problem of={journalProblem} />
  if (journal.length === 0) return <div class="empty">Reading its journal …</div>
  return <Loaded run={run} journal={journal} />
}

function Loaded({
  run,
  journal
}: {
  readonly run: RunView
  readonly journal: readonly JournalRow[]
}) {
  const { query } = address.value
  const last = journal.length - 1
  const asked = Number(query['at'] ?? last)
  const isNow = query['at'] === undefined || !Number.isInteger(asked) || asked >= last
  const at = isNow ? last : Math.max(0, asked)
  const journaled = pastOf(journal, at)
  const moment = useMoment({ run, at, isNow, steps: journaled.steps.length })
  // The moment before stays drawn while the next is asked for; it says nothing of this one's steps.
  const actors = moment?.actors ?? []
  const past = moment?.entry === at ? asCharted(journaled, actors) : journaled
  const named = past.steps.find((step) => stepName(step) === query['step'])
  const newest = isNow ? undefined : past.steps.findLast((step) => !step.isFuture)
  const shown: RunShown = { run, journal, actors, at, isNow, past, chosen: named ?? newest ?? null }
  useRunKeys(shown)
  if (query['view'] === 'turns') return <Turns shown={shown} />
  const tab = query['tab'] === 'detail' ? 'detail' : 'run'
  return (
    <div class="run" data-tab={tab}>
      <Head shown={shown} />
      {isNarrow.value ? <Tabs tab={tab} /> : null}
      <ChartPanel shown={shown} />
      <Timeline shown={shown} />
      <aside class="insp" aria-label="Detail">
        {shown.chosen === null ? (
          <RunPanel shown={shown} />
        ) : (
          <StepPanel key={stepName(shown.chosen)} shown={shown} step={shown.chosen} />
        )}
      </aside>
    </div>
  )
}

/** Where the charts of an open run stand after the entry, or after the one asked for before it. */
function useMoment(asked: {
  readonly run: RunView
  readonly at: number
  readonly isNow: boolean
  readonly steps: number
}): ChartAt | null {
  const { run, at, isNow, steps } = asked
  // What has ended does nothing: all blocks are READY, and nothing has to be folded to know it.
  const hasEnded = isNow && ['done', 'failed', 'cancelled'].includes(run.status)
  const { value } = useQuery('chartAt', hasEnded ? null : { id: run.id, entry: at }, steps)
  return hasEnded ? null : value
}

function useRunKeys(shown: RunShown): void {
  const { at, past, chosen, journal, run } = shown
  const byStep = (by: 1 | -1) => () => {
    const index = chosen === null ? -1 : past.steps.indexOf(chosen)
    const from = index < 0 && by < 0 ? past.steps.length : index
    const step = past.steps[Math.max(0, Math.min(past.steps.length - 1, from + by))]
    if (step !== undefined) chooseStep(step)
  }
  const failed = firstFailure(past)
  useKeys({
    '[': () => standAt(shown, at - 1),
    ']': () => standAt(shown, at + 1),
    '{': () => standAt(shown, 0),
    '}': () => standAt(shown, journal.length),
    j: byStep(1),
    k: byStep(-1),
    e: () => failed && chooseStep(failed),
    Enter: () => {
      const [wait] = run.waits
      if (wait !== undefined) go(linkTo('waits', wait.token))
    },
    Escape: () => choose({ step: null, at: null, tab: null, view: null })
  })
}

function Head({ shown }: { readonly shown: RunShown }) {
  const { run, isNow, at, journal, past } = shown
  const { id, name, status, startedAt, updatedAt, waits } = run
  const isOpen = status === 'running' || status === 'waiting'
  const [wait] = waits
  const receipts = journal.filter(({ receiptHash }) => receiptHash !== null).length
  const hasTurns = journal.some(
    ({ entry }) => entry.k === 'sealed' && entry.effect === 'agent.turn'
  )
  const failed = firstFailure(past)
  return (
    <div class="rh">
      <h2>{shownId(id)}</h2>
      <Pill status={isNow ? status : past.status} />
      {isNow ? null : <span class="tag past">{`as of entry ${at} of ${journal.length - 1}`}</span>}
      <div class="facts hide-s">
        <b>{shownLine(name)}</b>
        <span>
          started <b class="num">{clockText(startedAt)}</b>
        </span>
        <span>
          took <b class="num">{tookText((isOpen ? now.value : updatedAt) - startedAt)}</b>
        </span>
        <span>
          <b class="num">{receipts}</b> {receipts === 1 ? 'receipt' : 'receipts'}
        </span>
      </div>
      <div class="grow" />
      {failed === undefined || failed === shown.chosen ? null : (
        <button type="button" class="btn hide-s" onClick={() => chooseStep(failed)}>
          First failure
        </button>
      )}
      {hasTurns ? (
        <button type="button" class="btn" onClick={() => choose({ view: 'turns' })}>
          Turns
        </button>
      ) : null}
      {isNow ? null : <StateButton shown={shown} />}
      {isNow ? null : (
        <button type="button" class="btn" onClick={() => standAt(shown, journal.length)}>
          Back to now
        </button>
      )}
      {wait === undefined || !isNow ? null : (
        <a class="btn pri" href={linkTo('waits', wait.token)}>
          Answer
        </a>
      )}
      {isOpen && isNow ? <CancelButton /> : null}
    </div>
  )
}

function CancelButton() {
  return (
    <button
      type="button"
      class="btn no hide-s"
      onClick={() => {
        overlay.value = 'cancel'
      }}
    >
      Cancel the run
    </button>
  )
}

function Tabs({ tab }: { readonly tab: 'run' | 'detail' }) {
  return (
    <div class="tabs">
      <button type="button" aria-pressed={tab === 'run'} onClick={() => choose({ tab: null })}>
        Run
      </button>
      <button
        type="button"
        aria-pressed={tab === 'detail'}
        onClick={() => choose({ tab: 'detail' })}
      >
        Detail
      </button>
    </div>
  )
}

export function RunCrumb({ id }: { readonly id: string }) {
  useEffect(() => {
    document.title = `${shownId(id)} · tallystick`
  }, [id])
  return (
    <>
      <a href={linkTo('runs')}>Runs</a>
      <span class="dim"> / </span>
      <Said text={shownId(id)} />
    </>
  )
}
