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
