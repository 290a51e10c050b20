import type { QueryRequests, QueryStreams } from '../queries/query-types.js'
import type { Params } from './params.js'

/** Each query over checked parameters, which end with `params.end()`. */
export type QueryTable<Method extends keyof QueryRequests> = {
  readonly [One in Method]: (params: Params) => Promise<QueryRequests[One]['result']>
}

/** The signal aborts when the caller wants no more. */
export type StreamTable<Method extends keyof QueryStreams> = {
  readonly [One in Method]: (
    params: Params,
    signal: AbortSignal
  ) => AsyncIterable<QueryStreams[One]['event']>
}
