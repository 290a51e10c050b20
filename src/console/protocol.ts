import type { Json } from '../core/index.js'
import type { RemoteError } from '../owner/index.js'

/**
 * What the page and its server say to each other, over HTTP/1.1 on loopback.
 *
 *   POST /session        {"token":TOKEN}       the token of the link's fragment; sets the cookie
 *   POST /api/METHOD     the method's parameters, an object
 *                        a method with one result: {"result":JSON}
 *                        one with a stream: server-sent events, each `data:` one event; then
 *                        `event: end`, or `event: failed` with {"error":ERROR}
 *   GET /api/feed?since=PLACE&paceMs=N
 *                        server-sent events: `event:` is the type, `data:` the whole event, `id:`
 *                        its place where it has one. `Last-Event-ID` goes before `since`. With
 *                        `paceMs` at most one `changed` in N ms, in place of what became durable
 *   any refusal or failure, with its status: {"error":{code, message, fix, context}}
 *
 * Every POST has `content-type: application/json` and `x-tally: 1`.
 */

/** Body of `POST /session`. */
export interface SessionRequest {
  readonly token: string
}

/** Answer of `POST /session`, and, by the cookie alone, of `POST /session` with `{}`. */
export interface SessionReply {
  readonly result: {
    /** The console takes no writes. */
    readonly readOnly: boolean
    /** The run that the command was asked to show. */
    readonly run: string | null
  }
}

export type CallReply = { readonly result: Json } | ErrorReply

export interface ErrorReply {
  readonly error: RemoteError
}
