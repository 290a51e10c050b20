import { type JsonObject, runtimeProfile } from '../core/index.js'
import { EXPRESSION_PROFILE } from '../expression/index.js'

/** The versioned names that receipts of this process carry (formats.md §3 `profile`). */
export function currentProfile(): JsonObject {
  return { ...runtimeProfile(), cel: EXPRESSION_PROFILE }
}
