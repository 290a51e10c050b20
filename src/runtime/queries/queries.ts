import type { Json } from '../../core/index.js'
import type { OwnerHandler } from '../../ledger/index.js'
import type { FollowedEntry, QueryRequests, QueryStreams } from './query-types.js'

type Asked<Query extends { readonly params: object; readonly result: unknown }> = (
  ...params: object extends Query['params'] ? [params?: Query['params']] : [params: Query['params']]
) => Promise<Query['result']>

type Followed<Query extends { readonly params: object; readonly event: unknown }> = (
  ...params: object extends Query['params'] ? [params?: Query['params']] : [params: Query['params']]
) => AsyncIterable<Query['event']>

/**
 * What a page asks of a ledger, in this process: results are as the service gives them, without the
 * secrets that this process knows. Leaving a loop ends its stream. Rejects with
 * `service.invalid_params`, and with what each query names.
 */
export type Queries = {
  readonly [Method in keyof QueryRequests]: Asked<QueryRequests[Method]>
} & {
  readonly [Method in keyof QueryStreams]: Followed<QueryStreams[Method]>
}

const requests: Readonly<Record<keyof QueryRequests, true>> = {
  find: true,
  counts: true,
  waits: true,
  chart: true,
  chartAt: true,
  calls: true,
  signals: true,
  exceptions: true,
  log: true,
  proof: true,
  state: true,
  stateHistory: true,
  stateProof: true,
  doctor: true,
  queues: true,
  schedules: true,
  grants: true,
  resumable: true,
  locate: true
}

const streams: Readonly<Record<keyof QueryStreams, true>> = {
  verifying: true,
  follow: true,
  feed: true
}

export function isQuery(method: string): method is keyof QueryRequests {
  return Object.hasOwn(requests, method)
}

export function isQueryStream(method: string): method is keyof QueryStreams {
  return Object.hasOwn(streams, method)
}

/** The checks of `tally doctor`, which opening a ledger does not load. */
export async function healthChecks() {
  return { ...(await import('./place-checks.js')), ...(await import('./ledger-health.js')) }
}

/** The queries that a service answers. */
export function queriesOf(handle: OwnerHandler): Queries {
  const asked = Object.keys(requests).map((method) => [
    method,
    async (params: object = {}) => handle(requestOf(method, params))
  ])
  const followed = Object.keys(streams).map((method) => [
    method,
    (params: object = {}) => follow(handle, method, params)
  ])
  return Object.fromEntries([...asked, ...followed]) as Queries
}

/** {@link QueryStreams.follow} that its caller can end. */
export function followRun(
  handle: OwnerHandler,
  params: QueryStreams['follow']['params'],
  signal?: AbortSignal
): AsyncIterable<FollowedEntry> {
  return follow(handle, 'follow', params, signal) as unknown as AsyncIterable<FollowedEntry>
}

/** A stream that ends when its reader leaves, even while it waits for what comes next. */
function follow(
  handle: OwnerHandler,
  method: string,
  params: object,
  signal?: AbortSignal
): AsyncIterable<Json> {
  const abort = new AbortController()
  const ends = signal === undefined ? abort.signal : AbortSignal.any([abort.signal, signal])
  // Streams are never promises.
  const events = handle(requestOf(method, params, ends)) as AsyncIterable<Json>
  const iterator = events[Symbol.asyncIterator]()
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => iterator.next(),
      return: async () => {
        abort.abort()
        await iterator.return?.()
        return { done: true, value: undefined }
      }
    })
  }
}

function requestOf(method: string, params: object, signal = new AbortController().signal) {
  // The types of parameters name members of plain JSON.
  return { method, params: params as Json, signal }
}
