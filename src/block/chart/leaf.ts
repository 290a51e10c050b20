import type { ActorLogic } from 'xstate'
import { blockChart } from '../../../machines/block.js'
import { present } from '../../core/index.js'
import {
  askDecision,
  askTimer,
  type BlockAction,
  type BlockIdentity,
  begunRun,
  type ChartLibrary,
  type ChartRun,
  classOf,
  Decisions,
  heldFailure,
  idleRun,
  nextAttempt,
  reportWaiting,
  type Sink,
  sends,
  settling,
  sharedActions,
  sharedGuards
} from './chart-run.js'
import type { CompositeEvent, DecisionCommand, LeafEvent } from './protocol.js'
import { pumpOf } from './pump-port.js'
import { optionsAfter } from './retry-policy.js'
import { ActorSink, keyOfValue, stepTable, type Table, type TableValue, tableOf } from './table.js'

/** What a leaf needs of the registry. */
export type LeafLibrary = ChartLibrary

/** The functions that `machines/block.ts` names. Chart and table both use exactly these. */
export function leafFunctions(library: LeafLibrary) {
  const decisions = new Decisions<ChartRun>(library, (_, event) =>
    event.type === 'attempt.settled' && !event.response.success
      ? { response: event.response, sent: event.sent, canFallBack: true }
      : undefined
  )
  const decision = (context: ChartRun, event: CompositeEvent) => decisions.of(context, event)
  const idle = ({ identity }: ChartRun) => idleRun(identity)
  const questions = { decision, restarted: (context: ChartRun) => context, idle }
  const { holdDecision: holdFailure, ...shared } = sharedActions<ChartRun>(questions)
  const settles = settling<ChartRun>(questions)
  return {
    guards: {
      succeeds: (_: ChartRun, event: CompositeEvent) =>
        event.type === 'attempt.settled' && event.response.success,
      retriesAtOnce: (context: ChartRun, event: CompositeEvent) => {
        const next = decision(context, event)
        return next.kind === 'retry' && next.delayMs === 0
      },
      fallsBack: (context: ChartRun, event: CompositeEvent) =>
        decision(context, event).kind === 'fallback',
      ...sharedGuards<ChartRun>(questions)
    },
    actions: {
      ...shared,
      holdFailure,
      askDecision: sends((context, _event, sink) => askDecision(context, sink, codeOf(context))),
      begin: (context, event) =>
        event.type === 'block.execute' ? begunRun(context.identity, event) : context,
      askAttempt: sends((context, _event, sink) => askAttempt(context, sink)),
      reportWaiting: sends((context, event, sink) =>
        reportWaiting(context, event.at, sink, 'sent' in event && event.sent === true)
      ),
      holdWait: (context, event) =>
        event.type === 'attempt.waiting' ? { ...context, wait: event.wait } : context,
      countAttempt: (context, event) => {
        const next = decision(context, event)
        const options = optionsAfter(context.options, event)
        const cursor = next.kind === 'retry' ? { cursor: next.cursor } : {}
        return nextAttempt(context, { options, ...cursor })
      },
      fallBack: (context, event) => {
        const next = decision(context, event)
        if (next.kind !== 'fallback') return context
        return nextAttempt(context, { provider: next.provider, cursor: next.cursor })
      },
      settle: settles((context, event) =>
        event.type === 'attempt.settled' ? event.response : heldFailure(context)
      )
    } satisfies Readonly<Record<string, BlockAction<ChartRun>>>
  }
}

function askAttempt(context: ChartRun, sink: Sink): void {
  const { identity, request } = context
  if (request === null) return
  sink.ask({
    kind: 'attempt',
    path: identity.path,
    step: context.step,
    attempt: context.attempt,
    block: identity.block,
    provider: context.provider,
    request,
    options: context.options,
    sideEffects: classOf(context)
  })
}

function codeOf({ identity: { block }, provider }: ChartRun): DecisionCommand['failed'] {
  return { block, provider }
}

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
  readonly context: ChartRun
}

export type LeafLogic = ActorLogic<LeafSnapshot, LeafEvent, BlockIdentity>

/** The leaf chart's table with its functions bound to a registry. */
export type LeafTable = Table<ChartRun, LeafEvent, Sink>

export function leafTable(library: LeafLibrary): LeafTable {
  const known = tables.get(library)
  if (known !== undefined) return known
  const table = tableOf<ChartRun, LeafEvent, object, Sink>(blockChart, leafFunctions(library))
  tables.set(library, table)
  return table
}

// A library is that of one compiled parent, whose leaves run and are replayed many times.
const tables = new WeakMap<LeafLibrary, LeafTable>()

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

function leafSnapshot(value: TableValue, context: ChartRun): LeafSnapshot {
  return { status: 'active', output: undefined, error: undefined, value, context }
}

export function initialLeaf(identity: BlockIdentity): LeafSnapshot {
  return leafSnapshot('READY', idleRun(identity))
}

/**
 * After a restore, asks again for what the block was waiting for: entry actions do not run again.
 */
function askAgain(snapshot: LeafSnapshot, sink: Sink): void {
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
      askDecision(context, sink, codeOf(context))
      return
  }
}

/** The leaf as actor logic; input is the block's identity. */
export function leafLogic(library: LeafLibrary): LeafLogic {
  const table = leafTable(library)
  return {
    config: blockChart,
    getInitialSnapshot: (_scope, identity) => initialLeaf(identity),
    transition: (snapshot, event, scope) => {
      const { path } = snapshot.context.identity
      const stepped = stepLeaf(table, snapshot, event, new ActorSink(scope, path))
      pumpOf(scope.system)?.moved?.(path, event, stepped)
      return stepped
    },
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (persisted) => {
      // The envelope of the checkpoint was checked before (formats.md §7).
      const { value, context } = persisted as LeafSnapshot
      return leafSnapshot(present(table.get(keyOfValue(value)), 'state').value, context)
    },
    start: (snapshot, scope) =>
      askAgain(snapshot, new ActorSink(scope, snapshot.context.identity.path))
  }
}
