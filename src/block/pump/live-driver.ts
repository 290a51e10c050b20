import { blockError } from '../../core/index.js'
import { Overlay } from '../run/overlay.js'
import { isOverlayTask } from '../run/overlay-tasks.js'
import type { Driver } from '../run/run-state.js'
import type { Attempt } from './attempt.js'
import type { DeclaredOrder } from './declared-order.js'
import type { Leaves } from './leaves.js'
import type { PumpParts } from './parts.js'
import type { RunActors } from './run-actors.js'

/** What entries change in a pump, besides its state. */
export interface LiveThings {
  readonly leaves: Leaves
  readonly order: DeclaredOrder
  readonly actors: RunActors
  /** Releases what the outermost overlay has reserved. */
  readonly release: () => void
  /** A wait was begun. */
  readonly waits: Driver<Attempt, Overlay>['waits']
}

/** What an entry does to the live things of a run: its attempts, overlays, actors and timers. */
export function liveDriver(
  { host, state, inbox }: PumpParts,
  { leaves, order, actors, release, waits }: LiveThings
): Driver<Attempt, Overlay> {
  const { journal } = host
  return {
    attempt: (ask, at, earlier) => {
      const attempt = leaves.make(ask, at, earlier)
      if (attempt === undefined) {
        throw blockError('run.unknown_block', { runId: state.runId, block: ask.block })
      }
      order.opened(attempt)
      host.observer?.asked(ask, at, actors.around(ask.path))
      return attempt
    },
    overlay: (ask, at, outer) => {
      const below =
        outer === undefined ? journal.read.bind(journal) : outer.view.read.bind(outer.view)
      return new Overlay(ask, { at, outer, below })
    },
    deliver: (path, event) => {
      if (event.type === 'block.execute' || event.type === 'block.cancel') actors.command(event)
      else if (isOverlayTask(path)) state.tasksAt(path)?.deliver(event)
      else actors.deliver(path, event)
    },
    ask: (ask) => actors.post(ask),
    waits,
    calledOff: (key) => inbox.disarm(key),
    answered: (attempt, entry) => attempt.release(entry),
    rewound: (attempt, entry) => leaves.rewound(attempt, entry),
    settled: (attempt, { overlay, response }, openOverlay) => {
      if (openOverlay === undefined || overlay === undefined) return
      if (attempt.isStarted) openOverlay.absorb(attempt.view)
      else openOverlay.restore(overlay, (key) => journal.read(key))
      openOverlay.collect(attempt, response)
    },
    closed: (attempt) => {
      order.closed(attempt)
      leaves.close(attempt)
    },
    ended: (openOverlay, outer, { outcome }) => {
      if (outer !== undefined) {
        if (outcome === 'committed') outer.join(openOverlay)
        return
      }
      // After a conflict it runs again, unless the run is cancelled.
      if (outcome !== 'conflict' || state.cancelled !== undefined) release()
    }
  }
}
