import { TallyError } from '../../core/index.js'
import type { AttemptCommand, BlockCommand, Delivery, PumpCommand } from '../chart/protocol.js'
import type { OverlayEnded, Rewound, Sealed, Settled, WaitBegun } from '../run/entries.js'
import { Overlay } from '../run/overlay.js'
import { isOverlayTask } from '../run/overlay-tasks.js'
import type { Past } from '../run/past.js'
import type { Driver, OverlayOpenCommand } from '../run/run-state.js'
import type { Alarms } from './alarms.js'
import type { Attempt } from './attempt.js'
import type { Commits } from './commits.js'
import type { DeclaredOrder } from './declared-order.js'
import type { Leaves } from './leaves.js'
import type { PumpParts } from './parts.js'
import type { RunActors } from './run-actors.js'

interface Live {
  readonly pump: PumpParts & { readonly leaves: Leaves }
  readonly actors: RunActors
  readonly alarms: Alarms
  readonly commits: Commits
  readonly order: DeclaredOrder
}

/**
 * What an entry does to the live things of a run: actors, attempts, overlays and timers. The pump
 * and recovery apply entries with it.
 */
export class LiveDriver implements Driver<Attempt, Overlay> {
  /** False while recorded entries are applied: nothing is decided, sent or told then. */
  isLive = false
  readonly #live: Live

  constructor(live: Live) {
    this.#live = live
  }

  attempt(ask: AttemptCommand, at: number, earlier: Past | undefined): Attempt {
    const { pump, order } = this.#live
    const attempt = pump.leaves.make(ask, at, earlier)
    if (attempt === undefined) {
      throw new TallyError('run.unknown_block', { runId: pump.state.runId, block: ask.block })
    }
    order.opened(attempt)
    return attempt
  }

  overlay(ask: OverlayOpenCommand, at: number, outer: Overlay | undefined): Overlay {
    const { journal } = this.#live.pump.host
    const below =
      outer === undefined ? journal.read.bind(journal) : outer.view.read.bind(outer.view)
    return new Overlay(ask, { at, outer, below })
  }

  deliver(path: string, event: BlockCommand | Delivery): void {
    const { pump, actors } = this.#live
    if (event.type === 'block.execute' || event.type === 'block.cancel') actors.command(event)
    else if (isOverlayTask(path)) pump.state.tasksAt(path)?.deliver(event)
    else actors.deliver(path, event)
  }

  ask(ask: PumpCommand): void {
    this.#live.actors.post(ask)
  }

  waits(wait: WaitBegun): void {
    if (this.isLive) this.watch(wait)
  }

  /** Has a wait end at its due time. */
  watch({ due, token }: WaitBegun): void {
    if (due !== null) this.#live.alarms.arm(token, due, { kind: 'due', token })
  }

  calledOff(key: string): void {
    this.#live.alarms.disarm(key)
  }

  answered(attempt: Attempt, entry: Sealed): void {
    attempt.release(entry)
  }

  rewound(attempt: Attempt, entry: Rewound): void {
    this.#live.pump.leaves.rewound(attempt, entry)
  }

  settled(
    attempt: Attempt,
    { overlay, response }: Settled,
    openOverlay: Overlay | undefined
  ): void {
    if (openOverlay === undefined || overlay === undefined) return
    const { journal } = this.#live.pump.host
    if (attempt.isStarted) openOverlay.absorb(attempt.view)
    else openOverlay.restore(overlay, (key) => journal.read(key))
    openOverlay.collect(attempt, response)
  }

  closed(attempt: Attempt): void {
    this.#live.order.closed(attempt)
    this.#live.pump.leaves.close(attempt)
  }

  ended(openOverlay: Overlay, outer: Overlay | undefined, { outcome }: OverlayEnded): void {
    const { pump, commits } = this.#live
    if (outer !== undefined) {
      if (outcome === 'committed') outer.join(openOverlay)
      return
    }
    // After a conflict it runs again, unless the run is cancelled.
    if (outcome !== 'conflict' || pump.state.cancelled !== undefined) commits.release()
  }
}
