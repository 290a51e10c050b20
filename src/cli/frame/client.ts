import type { Json } from '../../core/index.js'
import type { OwnerHandler } from '../../ledger/index.js'
import type { OwnerClient } from '../../owner/index.js'
import type { ServiceRequests, ServiceStreams } from '../../runtime/index.js'

type Request = keyof ServiceRequests
type Stream = keyof ServiceStreams

/** The holder of the ledger, in this process or behind its socket. */
export interface ServiceClient {
  request<Method extends Request>(
    method: Method,
    params: ServiceRequests[Method]['params']
  ): Promise<ServiceRequests[Method]['result']>
  /** Leaving the loop ends the stream, and so does the signal while it waits. */
  stream<Method extends Stream>(
    method: Method,
    params: ServiceStreams[Method]['params'],
    signal?: AbortSignal
  ): AsyncIterable<ServiceStreams[Method]['event']>
}

// The types of parameters and results name members of plain JSON.
const asJson = (params: object) => params as Json

/** A service of this process. */
export function localClient(handle: OwnerHandler): ServiceClient {
  const never = new AbortController().signal
  const call = (method: string, params: object, signal = never) =>
    handle({ method, params: asJson(params), signal })
  return {
    request: (method, params) => call(method, params) as Promise<unknown> as never,
    stream: (method, params, signal) =>
      call(method, params, signal) as AsyncIterable<unknown> as never
  }
}

/** The service of the process that holds the ledger. */
export function ownerClient(owner: OwnerClient): ServiceClient {
  return {
    request: (method, params) => owner.request(method, asJson(params)) as Promise<unknown> as never,
    stream: (method, params, signal) =>
      owner.stream(method, asJson(params), signal) as AsyncIterable<unknown> as never
  }
}
