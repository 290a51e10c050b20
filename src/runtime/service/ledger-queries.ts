import { limits, once, type RunId, systemClock } from '../../core/index.js'
import type { RunRecord } from '../../ledger/index.js'
import { doctorChecks } from '../queries/doctor.js'
import { type FeedParts, feed } from '../queries/feed.js'
import { followedRun } from '../queries/follow.js'
import { grantPage } from '../queries/grant-lines.js'
import { logPage, logProof } from '../queries/ledger-log.js'
import { parseCount, stateHistory, statePage, stateProof } from '../queries/past-state.js'
import type { QueryParts } from '../queries/query-parts.js'
import type { QueryRequests, QueryStreams } from '../queries/query-types.js'
import { resumableRuns } from '../queries/resumable-runs.js'
import { verifying } from '../queries/verifying.js'
import type { QueryTable, StreamTable } from './query-tables.js'
import { pageOf, type RunQuery, runLinesOf } from './run-queries.js'

/** The queries about the ledger itself. */
export function ledgerQueries(
  parts: QueryParts
): QueryTable<Exclude<keyof QueryRequests, RunQuery>> {
  const { ledger, running } = parts
  return {
    doctor: async (params) => {
      params.end()
      return { checks: await doctorChecks(parts) }
    },
    log: async (params) => {
      const before = params.optionalCount('before')
      const from = params.optionalCount('from')
      const { limit, cursor } = pageOf(params)
      params.end()
      const place = cursor === undefined ? before : parseCount(cursor)
      return logPage(ledger, { before: place, from, limit })
    },
    proof: async (params) => {
      const leaf = params.optionalCount('leaf')
      params.end()
      return logProof(ledger, leaf ?? 0)
    },
    state: async (params) => {
      const asOf = params.optionalCount('asOf')
      const prefix = params.optionalText('prefix')
      const page = pageOf(params)
      params.end()
      return statePage(ledger, { asOf, prefix, ...page })
    },
    stateHistory: async (params) => {
      const key = params.text('key')
      const page = pageOf(params)
      params.end()
      return stateHistory(ledger, { key, ...page })
    },
    stateProof: async (params) => {
      const key = params.text('key')
      const asOf = params.optionalCount('asOf')
      params.end()
      return stateProof(ledger, { key, asOf })
    },
    queues: async (params) => {
      const name = params.optionalText('name')
      params.end()
      const { queueLines } = await import('../queries/queue-lines.js')
      return { queues: await queueLines({ ledger, queues: running?.runs.queues }, name) }
    },
    grants: async (params) => {
      const page = pageOf(params)
      params.end()
      return grantPage(ledger, page)
    },
    resumable: async (params) => {
      params.end()
      return resumableRuns(ledger, running?.registry)
    }
  }
}

/** What of the ledger is followed. */
export function ledgerStreams(parts: QueryParts): Partial<StreamTable<keyof QueryStreams>> {
  const { ledger, running } = parts
  const deltas = once(() => deltasOf(running))
  return {
    verifying: (params) => {
      const notes = params.texts('notes', ['source', 'text'])
      const replay = params.flag('replay')
      const executions = params.optionalCountTo('executions', limits.VERIFY_EXECUTIONS_MAX) ?? 1
      const archives = params.optionalList('archives')
      params.end()
      return verifying(parts, { notes, replay, executions, ...(archives && { archives }) })
    },
    follow: (params, signal) => {
      const after = params.optionalText('after')
      const id = params.text('id') as RunId
      params.end()
      return followedRun(ledger, { id, after }, signal)
    },
    feed: (params, signal) => {
      const since = params.optionalText('since')
      const paceMs = params.optionalCountTo('paceMs', limits.FEED_PACE_MS_MAX)
      params.end()
      const lines = runLinesOf(parts)
      const line = (record: RunRecord) => lines.line(record)
      const onDelta: FeedParts['onDelta'] = (listener) => {
        deltas().add(listener)
        return () => deltas().delete(listener)
      }
      return feed({ ledger, line, onDelta, clock: systemClock }, { since, paceMs }, signal)
    }
  }
}

/** Readers that hear the texts of agents: they share one listener, which stays. */
function deltasOf(running: QueryParts['running']) {
  const readers = new Set<Parameters<FeedParts['onDelta']>[0]>()
  running?.registry.rooms.onDelta(({ runId, nodeId: path, text }) => {
    for (const reader of readers) reader({ type: 'delta', runId: runId as RunId, path, text })
  })
  return readers
}
