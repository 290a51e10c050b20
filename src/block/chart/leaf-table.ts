import type { ActorLogic, ActorScope } from 'xstate'
import { blockChart } from '../../../machines/block.js'
import { present } from '../../core/index.js'
import { type LeafEvent, pumpOf } from '../protocol.js'
import {
  askDecision,
  askTimer,
  type BlockIdentity,
  idleRun,
  rootCommand,
  type Sink
} from './chart-run.js'
import {
  askAttempt,
  type LeafAction,
  type LeafContext,
  type LeafGuard,
  type LeafLibrary,
  leafActions,
  leafGuards
} from './leaf-actions.js'
import { keyOfValue, stepTable, type Table, type TableValue, tableOf } from './table.js'

/**
 * The leaf chart as a table: one look-up for each event instead of a statechart interpreter.
 * It is computed from `machines/block.ts`, which stays the source; a test compares the two for
 * every reachable state and event.
 */

export interface LeafSnapshot {
  readonly status: 'active'
  readonly output: undefined
  readonly error: undefined
  readonly value: TableValue
  readonly context: LeafContext
}

export type LeafLogic = ActorLogic<LeafSnapshot, LeafEvent, BlockIdentity>

/** The leaf chart's table with its functions bound to a registry. */
export type LeafTable = Table<LeafContext, LeafEvent, Sink>

export function leafTable(library: LeafLibrary): LeafTable {
  const known = tables.get(library)
  if (known !== undefined) return known
  const table = newTable(library)
  tables.set(library, table)
  return table
}

// A library is that of one compiled parent, whose leaves run and are replayed many times.
const tables = new WeakMap<LeafLibrary, LeafTable>()

function newTable(library: LeafLibrary): LeafTable {
  const guards = Object.entries(leafGuards).map(([name, guard]: [string, LeafGuard]) => [
    name,
    (context: LeafContext, event: LeafEvent) => guard(context, event, library)
  ])
  const actions = Object.entries(leafActions).map(([name, action]: [string, LeafAction]) => [
    name,
    (context: LeafContext, event: LeafEvent, _params: object, sink: Sink) =>
      action(context, event, sink, library)
  ])
  return tableOf<LeafContext, LeafEvent, object, Sink>(blockChart, {
    guards: Object.fromEntries(guards),
    actions: Object.fromEntries(actions)
  })
}

/** One step of the table. Pure apart from what it tells the sink; the same snapshot: ignored. */
export function stepLeaf(
  table: LeafTable,
  snapshot: LeafSnapshot,
  event: LeafEvent,
  sink: Sink
): LeafSnapshot {
  const state = present(table.get(keyOfValue(snapshot.value)), 'state of the block')
  const from = { state, context: snapshot.context }
  const step = stepTable(table, from, event, sink)
  return step === from ? snapshot : leafSnapshot(step.state.value, step.context)
}

export function leafSnapshot(value: TableValue, context: LeafContext): LeafSnapshot {
  return { status: 'active', output: undefined, error: undefined, value, context }
}

export function initialLeaf(identity: BlockIdentity): LeafSnapshot {
  return leafSnapshot('READY', idleRun(identity))
}

/**
 * After a restore, asks again for what the block was waiting for: entry actions do not run again.
 */
export function askAgain(snapshot: LeafSnapshot, sink: Sink): void {
  const { context } = snapshot
  switch (keyOfValue(snapshot.value)) {
    case 'BUSY':
    case 'WAITING.attempt':
      askAttempt(context, sink)
      return
    case 'WAITING.retry':
      askTimer(context, sink)
      return
    case 'WAITING.decision':
      askDecision(context, sink)
      return
  }
}

type Scope = ActorScope<LeafSnapshot, LeafEvent>

/** The leaf as actor logic; input is the block's identity. */
export function leafLogic(library: LeafLibrary): LeafLogic {
  const table = leafTable(library)
  return {
    config: blockChart,
    getInitialSnapshot: (_scope, identity) => initialLeaf(identity),
    transition: (snapshot, event, scope) => {
      const sink = new OverlaySink(scope, snapshot.context.identity.path)
      return stepLeaf(table, snapshot, event, sink)
    },
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (persisted) => {
      // The envelope of the checkpoint was checked before (formats.md §7).
      const { value, context } = persisted as LeafSnapshot
      return leafSnapshot(present(table.get(keyOfValue(value)), 'state').value, context)
    },
    start: (snapshot, scope) =>
      askAgain(snapshot, new OverlaySink(scope, snapshot.context.identity.path))
  }
}

class OverlaySink implements Sink {
  readonly #scope: Scope
  readonly #path: string

  constructor(scope: Scope, path: string) {
    this.#scope = scope
    this.#path = path
  }

  ask(ask: Parameters<Sink['ask']>[0]): void {
    pumpOf(this.#scope.system)?.ask(ask, this.#scope.self)
  }

  report(report: Parameters<Sink['report']>[0]): void {
    const parent = this.#scope.self._parent
    if (parent === undefined) this.ask(rootCommand(this.#path, report))
    // Deferred, as sendParent is: the parent sees this actor's new snapshot.
    else this.#scope.defer(() => parent.send(report))
  }
}
