import type { UnitId } from '../../core/index.js'
import type { Block } from '../define.js'
import type { AttemptAsk } from '../protocol.js'
import type { WaitBegun } from '../run/entries.js'
import type { Past } from '../run/past.js'

/** An attempt that a chart has asked for and that has not settled yet. */
export interface AskedAttempt {
  readonly ask: AttemptAsk
  readonly block: Block
  readonly unitId: UnitId
  /** Canonical JSON of what the code is given. */
  readonly payloadText: string
  /** Its frozen time: when it was asked for (K7). */
  readonly at: number
  /** Where in the run and in the ledger it was asked for. */
  readonly asked: Moment
  past: Past
  readonly waits: Map<number, WaitBegun>
}

/** A place in the order of things: entries of the run, and items of the ledger. */
export interface Moment {
  readonly entry: number
  readonly item: number
}
