import type { IntentPort } from '../code/index.js'
import { canonicalize } from '../core/index.js'
import type { Intent } from './intent.js'

/**
 * Canonical JSON of an intent's payload: as a rule the rest of the input's, whose members stand in
 * order; writing it again costs more than all other stages together.
 */
export function payloadTextOf({ inputText }: IntentPort, intent: Intent): string {
  const { action, payload, raw, provider } = intent
  // Actions are plain text: nothing in them is escaped.
  const start = `{"action":"${action}","payload":`
  const isRest = raw === undefined && provider === undefined && inputText.startsWith(start)
  return isRest ? inputText.slice(start.length, -1) : canonicalize(payload)
}
