import type { JsonObject, RunId } from '../../core/index.js'
import type { ErrorReply } from '../../intent/index.js'

/** An intent that is refused before anything of it is done: no receipt, no evidence. */
export function refusal(
  id: RunId,
  action: string,
  reason: string,
  details: JsonObject & { readonly problem: string }
): ErrorReply {
  return { type: 'error', id, reason, message: `${action}: ${details.problem}`, details }
}

/** What would change the data of other identities of a location that is opened for many. */
export function openForMany(id: RunId, action: string): ErrorReply {
  const problem = 'the location is opened for many identities, and this is about the data of all'
  const fix = 'Close the location, and open this identity alone with createRuntime.'
  return refusal(id, action, 'open_for_many', { problem, fix })
}
