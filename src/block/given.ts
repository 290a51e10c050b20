import { canonicalizeLedgerValue, copyJson, type Json, type JsonObject } from '../core/index.js'
import type { Request, Response } from './protocol.js'
import { ignoreRejection } from './run/plain.js'

/**
 * What registered functions get to see of a run (B11): copies, so that whatever they do to them
 * changes nothing, live or in replay. A member is copied when it is read: most are not.
 */

export function givenRequest(request: Request): Request {
  return lazyCopy(request)
}

export function givenResponse(response: Response): Response {
  return lazyCopy(response)
}

/** What a repair makes of a request; null when that is no JSON. Throws what the result throws. */
export function repairedRequest(
  request: Request,
  result: Pick<Request, 'payload' | 'context'> | null
): Request | null {
  if (result === null || result === undefined) return null
  ignoreRejection(result)
  const { payload, context = request.context } = result
  const copy = JSON.parse(canonicalizeLedgerValue({ payload, context })) as {
    readonly payload: Json
    readonly context: JsonObject
  }
  return { ...request, ...copy }
}

function lazyCopy<Value extends Request | Response>(value: Value): Value {
  const copy = {}
  for (const [key, member] of Object.entries(value) as [string, Json | undefined][]) {
    if (typeof member !== 'object' || member === null) {
      Object.defineProperty(copy, key, { ...own, writable: true, value: member })
      continue
    }
    let made: unknown
    Object.defineProperty(copy, key, {
      ...own,
      get: () => {
        made ??= copyJson(member)
        return made
      },
      set: (changed: unknown) => {
        made = changed
      }
    })
  }
  return copy as Value
}

const own = { enumerable: true, configurable: true }
