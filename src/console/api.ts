import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  bytesWithin,
  type Clock,
  coreError,
  inspectError,
  isTallyError,
  type Json,
  type JsonObject,
  limits,
  parseInTurns,
  runtimeError
} from '../core/index.js'
import type { OwnerHandler } from '../ledger/index.js'
import { type RemoteError, toRemote } from '../owner/index.js'
import { EventStream } from './event-stream.js'
import { methodKind } from './methods.js'

export interface CallOptions {
  readonly handle: OwnerHandler
  readonly response: ServerResponse
  readonly params: Json
  /** Aborts when the reader or the server goes away. */
  readonly signal: AbortSignal
  readonly isReadOnly: boolean
  readonly clock: Clock
}

/** Has one method of the service done, and sends its result, or its events as they come. */
export async function answerCall(method: string, options: CallOptions): Promise<void> {
  const { handle, response, params, signal, isReadOnly, clock } = options
  const kind = methodKind(method)
  if (kind === undefined) throw runtimeError('service.unknown_method', { method })
  if (isReadOnly && kind.changes) throw inspectError('console.read_only', { method })
  const answer = handle({ method, params, signal })
  if (Symbol.asyncIterator in answer) {
    await sendEvents(answer, new EventStream(response, clock), signal)
    return
  }
  const result = await answer
  const shown =
    isReadOnly && method === 'status' ? { ...(result as JsonObject), readOnly: true } : result
  sendJson(response, 200, { result: shown })
}

async function sendEvents(
  events: AsyncIterable<Json>,
  stream: EventStream,
  signal: AbortSignal
): Promise<void> {
  stream.begin()
  try {
    for await (const event of events) {
      if (signal.aborted || !(await stream.send({ data: event }))) return
    }
    await stream.send({ type: 'end', data: null })
  } catch (error) {
    await stream.send({ type: 'failed', data: { error: toRemote(error) } as unknown as Json })
  } finally {
    stream.end()
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  value: { readonly result: Json } | { readonly error: RemoteError }
): void {
  const text = JSON.stringify(value)
  const actual = Buffer.byteLength(text)
  const limit = limits.OWNER_RESPONSE_BYTES_MAX
  if (actual > limit) {
    throw coreError('core.limit_exceeded', { what: 'The answer in bytes', actual, limit })
  }
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': actual })
  response.end(text)
}

/** Status of a failure whose code says more. */
export function statusOf(error: unknown): number {
  if (!isTallyError(error)) return 500
  return statuses.get(error.code) ?? 422
}

const statuses: ReadonlyMap<string, number> = new Map([
  ['console.not_found', 404],
  ['console.read_only', 403],
  ['console.busy', 503],
  ['ledger.locked', 503],
  ['ledger.read_only', 403],
  ['owner.busy', 503],
  ['owner.disconnected', 503],
  ['receipt.not_found', 404],
  ['run.not_found', 404],
  ['service.invalid_params', 400],
  ['service.unknown_method', 404]
])

/**
 * Body of a request as strict JSON; undefined for one over the limit. Throws `core.malformed_json`.
 */
export async function bodyOf(
  request: IncomingMessage
): Promise<{ readonly value: Json } | undefined> {
  // Before any of it is read, where the header says so.
  if (Number(request.headers['content-length'] ?? 0) > limits.OWNER_REQUEST_BYTES_MAX)
    return undefined
  const bytes = await bytesWithin(request, limits.OWNER_REQUEST_BYTES_MAX)
  if (bytes === undefined) return undefined
  return { value: await parseInTurns(bytes.toString('utf8')) }
}
