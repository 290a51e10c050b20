import type { Json, JsonObject, RunId } from '../../core/index.js'
import type { Intent, IntentReply } from '../../intent/index.js'

/** An intent that has come in. */
export interface AskedIntent {
  readonly id: RunId
  readonly intent: Intent
  readonly principal: Json
  /** Does it as intents are done, with this payload. */
  go(payload: JsonObject): Promise<IntentReply>
}
