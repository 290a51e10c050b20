import { type Json, runtimeError } from '../../core/index.js'
import type { OwnerRequest } from '../../ledger/index.js'
import type { QueryParts } from '../queries/query-parts.js'
import type { QueryRequests, QueryStreams } from '../queries/query-types.js'
import { ledgerQueries, ledgerStreams } from './ledger-queries.js'
import { Params } from './params.js'
import type { QueryTable, StreamTable } from './query-tables.js'
import { runQueries } from './run-queries.js'

/**
 * The service's methods that ask for pages and pictures: those of the console, one table.
 *
 * Owns nothing but what each query keeps between two questions, in bounds. Loaded with the first
 * question: opening a ledger and most commands need none of it.
 */
export function queriesOver(parts: QueryParts) {
  const requests: Partial<QueryTable<keyof QueryRequests>> = {
    ...runQueries(parts),
    ...ledgerQueries(parts)
  }
  const streams: Partial<StreamTable<keyof QueryStreams>> = ledgerStreams(parts)
  return {
    request(method: keyof QueryRequests, { params }: OwnerRequest): Promise<Json> {
      const ask = requests[method]
      if (ask === undefined) throw runtimeError('service.unknown_method', { method })
      // Results are plain JSON; their types only name the members.
      return ask(new Params(method, params)) as Promise<unknown> as Promise<Json>
    },
    stream(method: keyof QueryStreams, { params, signal }: OwnerRequest): AsyncIterable<Json> {
      const follow = streams[method]
      if (follow === undefined) throw runtimeError('service.unknown_method', { method })
      return follow(new Params(method, params), signal) as AsyncIterable<unknown> as never
    }
  }
}
