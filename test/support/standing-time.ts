import { ManualClock } from '../../src/core/index.js'
import {
  type InspectOptions,
  inspectOpening as inspect,
  type OpeningReport
} from '../../src/runtime/location/inspect-opening.js'
import type { OpeningTime } from '../../src/runtime/opening/opening-checks.js'

/**
 * By this time opening waits for the last receipt as long as it takes: on a loaded machine it would
 * give up after `BOOT_REPLAY_MS_MAX`, and say so.
 */
export const standingTime: OpeningTime = { clock: new ManualClock() }

export function inspectOpening(
  location: string,
  options: InspectOptions = {}
): Promise<OpeningReport> {
  return inspect(location, { ...standingTime, ...options })
}
