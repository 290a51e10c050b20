import { limits, once, type RunId, systemClock } from '../../core/index.js'
import type { RunRecord } from '../../ledger/index.js'
import { ReadingRights } from '../gate/reading-rights.js'
import { ComparedRuns } from '../queries/compared-runs.js'
import { FoundRuns, RunLines } from '../queries/find-runs.js'
import { findWaits, WaitBeginnings, waitsOfRun } from '../queries/find-waits.js'
import { locate } from '../queries/locate.js'
import type { QueryParts } from '../queries/query-parts.js'
import type { RunFilter, ShownStatus } from '../queries/query-types.js'
import { callsOf } from '../queries/run-calls.js'
import { RunCharts } from '../queries/run-charts.js'
import { RunIndex, type SeesRun } from '../queries/run-index.js'
import { tagsOfRun } from '../queries/run-tags.js'
import type { ScheduleLine } from '../queries/work-lines.js'
import { thrownIn } from '../run/exception-log.js'
import type { Params } from './params.js'
import type { QueryTable } from './query-tables.js'
import { runLine } from './views.js'

export type RunQuery =
  | 'find'
  | 'counts'
  | 'waits'
  | 'chart'
  | 'chartAt'
  | 'calls'
  | 'signals'
  | 'locate'
  | 'exceptions'
  | 'schedules'

/** The queries about runs. */
export function runQueries(parts: QueryParts): QueryTable<RunQuery> {
  const { ledger, running, isFollower = false } = parts
  const index = once(() => new RunIndex(ledger, tagsIn(parts)))
  const summary = (record: RunRecord) => runLine(record, { ledger, runs: running?.runs })
  const liveWaits = (id: RunId) => running?.runs.waits(id) ?? []
  const runs = once(() => new FoundRuns({ ledger, index: index() }, runLinesOf(parts)))
  const beginnings = once(() => new WaitBeginnings(ledger))
  const isLive = (id: RunId) => running?.runs.isLive(id) === true
  const compared = once(() => new ComparedRuns({ ledger, isLive }))
  const charts = once(
    () =>
      new RunCharts({
        ledger,
        registry: running?.registry,
        compared: compared(),
        livePicture: (id) => running?.runs.pictureOf(id)
      })
  )
  return {
    chart: async (params) => charts().chart(idOf(params)),
    chartAt: async (params) => {
      const entry = params.optionalCount('entry')
      return charts().chartAt(idOf(params), entry)
    },
    calls: async (params) => {
      const path = params.text('path')
      const [step, attempt] = [params.optionalCount('step'), params.optionalCount('attempt')]
      return callsOf({ ...parts, compared: compared() }, idOf(params), {
        path,
        step: step ?? 0,
        attempt: attempt ?? 1
      })
    },
    signals: async (params) => ({ signals: await charts().signals(idOf(params)) }),
    exceptions: async (params) => ({ exceptions: await thrownBy(parts, idOf(params)) }),
    find: async (params) => {
      const filter = filterOf(params)
      const page = pageOf(params)
      const agent = params.optionalText('agent')
      params.end()
      return runs().find(filter, page, seenBy(parts, agent))
    },
    counts: async (params) => {
      params.end()
      return runs().counts()
    },
    waits: async (params) => {
      const runId = params.optionalText('runId')
      const page = pageOf(params)
      const [agent, answers] = [params.optionalText('agent'), params.flag('answers')]
      params.end()
      const reader = agent === undefined ? undefined : { agent, answers }
      const asked = { ledger, index: index(), isFollower, liveWaits, summary }
      const found = { ...asked, beginnings: beginnings() }
      if (runId === undefined) return findWaits(found, page, reader)
      return waitsOfRun(found, { runId: runId as RunId, ...page }, reader)
    },
    schedules: (params) => schedulesOf(parts, runs(), params),
    locate: async (params) => {
      const text = params.text('text')
      params.end()
      return { found: await locate({ ledger, index: index(), liveWaits }, text) }
    }
  }
}

function filterOf(params: Params): RunFilter {
  const status = params.optionalWord('status', statuses)
  const [name, text] = [params.optionalText('name'), params.optionalText('text')]
  const [since, until] = [params.optionalCount('since'), params.optionalCount('until')]
  const [tag, waiting] = [params.optionalText('tag'), trueOrText(params, 'waiting')]
  const [queued, parent] = [trueOrText(params, 'queued'), params.optionalText('parent')]
  return {
    ...(tag === undefined ? {} : { tag }),
    ...(waiting === undefined ? {} : { waiting }),
    ...(queued === undefined ? {} : { queued }),
    ...(parent === undefined ? {} : { parent }),
    ...(status === undefined ? {} : { status }),
    ...(name === undefined ? {} : { name }),
    ...(text === undefined ? {} : { text }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until })
  }
}

async function schedulesOf(
  { ledger, running, problemOf }: QueryParts,
  runs: FoundRuns,
  params: Params
): Promise<{ readonly schedules: readonly ScheduleLine[] }> {
  const name = params.optionalText('name')
  const times = params.optionalCountTo('times', limits.SCHEDULE_TIMES_SHOWN_MAX) ?? 1
  params.end()
  const { scheduleLines } = await import('../queries/schedule-lines.js')
  const now = running?.runs.now() ?? systemClock.now()
  return { schedules: await scheduleLines({ ledger, runs, now, times, problemOf }, name) }
}

/** True, or which of them. */
function trueOrText(params: Params, name: string): true | string | undefined {
  return params.value(name) === true ? true : params.optionalText(name)
}

/** What was thrown in a run, from where its ledger keeps that. */
async function thrownBy({ ledger, location, thrown }: QueryParts, id: RunId) {
  const kept = thrown?.()
  if (kept !== undefined) return kept.filter(({ run }) => run === id)
  return thrownIn(location, ledger.identity, id)
}

/** The id, once every other parameter was read. Ids that no run can have are not found. */
function idOf(params: Params): RunId {
  const id = params.text('id')
  params.end()
  return id as RunId
}

/** What shows runs in lists. */
export function runLinesOf(parts: QueryParts): RunLines {
  const { ledger, running, isFollower = false } = parts
  const summary = (record: RunRecord) => runLine(record, { ledger, runs: running?.runs })
  return new RunLines({ ledger, isFollower, summary, tags: tagsIn(parts) })
}

/** By which tags a run is found, of one that is under way too. */
function tagsIn({ ledger, running }: Pick<QueryParts, 'ledger' | 'running'>) {
  const live = (id: RunId) => running?.runs.liveTags(id)
  return (record: RunRecord) => tagsOfRun(record, { ledger, live })
}

const statuses = [
  'running',
  'waiting',
  'done',
  'failed',
  'cancelled',
  'imported'
] as const satisfies readonly ShownStatus[]

/** Which page of a list is asked for. */
export function pageOf(params: Params): {
  readonly limit: number
  readonly cursor: string | undefined
} {
  const limit = params.optionalCountTo('limit', limits.PAGE_ITEMS_MAX)
  return { limit: limit ?? limits.PAGE_ITEMS_DEFAULT, cursor: params.optionalText('cursor') }
}

function seenBy({ ledger }: QueryParts, agent: string | undefined): SeesRun | undefined {
  if (agent === undefined) return undefined
  const rights = new ReadingRights(ledger, { agent, answers: false })
  return ({ principal }) => rights.sees(principal)
}
