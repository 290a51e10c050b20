import { TallyError } from '../../core/index.js'
import type { Ask, AttemptAsk, BlockCommand, Delivery } from '../protocol.js'
import type { Rewound, ScopeEnded, Sealed, Settled, WaitBegun } from '../run/entries.js'
import { isErrand } from '../run/overlay-tasks.js'
import type { Past } from '../run/past.js'
import type { Driver, ScopeOpenAsk } from '../run/run-state.js'
import { Scope } from '../run/scope.js'
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
export class LiveDriver implements Driver<Attempt, Scope> {
  /** False while recorded entries are applied: nothing is decided, sent or told then. */
  isLive = false
  readonly #live: Live

  constructor(live: Live) {
    this.#live = live
  }

  attempt(ask: AttemptAsk, at: number, earlier: Past | undefined): Attempt {
    const { pump, order } = this.#live
    const attempt = pump.leaves.make(ask, at, earlier)
    if (attempt === undefined) {
      throw new TallyError('run.unknown_block', { runId: pump.state.runId, block: ask.block })
    }
    order.opened(attempt)
    return attempt
  }

  scope(ask: ScopeOpenAsk, at: number, outer: Scope | undefined): Scope {
    const { journal } = this.#live.pump.host
    const below =
      outer === undefined ? journal.read.bind(journal) : outer.view.read.bind(outer.view)
    return new Scope(ask, { at, outer, below })
  }

  deliver(path: string, event: BlockCommand | Delivery): void {
    const { pump, actors } = this.#live
    if (event.type === 'block.execute' || event.type === 'block.cancel') actors.command(event)
    else if (isErrand(path)) pump.state.errandsAt(path)?.deliver(event)
    else actors.deliver(path, event)
  }

  ask(ask: Ask): void {
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

  settled(attempt: Attempt, { overlay, response }: Settled, scope: Scope | undefined): void {
    if (scope === undefined || overlay === undefined) return
    const { journal } = this.#live.pump.host
    if (attempt.isStarted) scope.absorb(attempt.view)
    else scope.restore(overlay, (key) => journal.read(key))
    scope.collect(attempt, response)
  }

  closed(attempt: Attempt): void {
    this.#live.order.closed(attempt)
    this.#live.pump.leaves.close(attempt)
  }

  ended(scope: Scope, outer: Scope | undefined, { outcome }: ScopeEnded): void {
    const { pump, commits } = this.#live
    if (outer !== undefined) {
      if (outcome === 'committed') outer.join(scope)
      return
    }
    // After a conflict it runs again, unless the run is cancelled.
    if (outcome !== 'conflict' || pump.state.cancelled !== undefined) commits.release()
  }
}
