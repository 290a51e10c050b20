import type { ActorLogic, ActorScope } from 'xstate'
import { blockChart } from '../../../machines/block.js'
import { TallyError } from '../../core/index.js'
import { type LeafEvent, pumpOf } from '../protocol.js'
import {
  askDecision,
  askTimer,
  type BlockIdentity,
  idleExecution,
  rootAsk,
  type Sink
} from './execution.js'
import {
  askAttempt,
  type LeafAction,
  type LeafContext,
  type LeafGuard,
  type LeafLibrary,
  leafActions,
  leafGuards
} from './leaf-actions.js'

/**
 * The leaf chart as a table: one look-up for each event instead of a statechart interpreter.
 * It is computed from `machines/block.ts`, which stays the source; a test compares the two for every
 * reachable state and event.
 */

export type LeafStateKey =
  | 'READY'
  | 'BUSY'
  | 'WAITING.attempt'
  | 'WAITING.retry'
  | 'WAITING.decision'

/** State values as XState writes them, so that checkpoints of chart and table are alike. */
export type LeafStateValue =
  | 'READY'
  | 'BUSY'
  | { readonly WAITING: 'attempt' | 'retry' | 'decision' }

export interface LeafSnapshot {
  readonly status: 'active'
  readonly output: undefined
  readonly error: undefined
  readonly value: LeafStateValue
  readonly context: LeafContext
}

export type LeafLogic = ActorLogic<LeafSnapshot, LeafEvent, BlockIdentity>

interface Branch {
  readonly guard: LeafGuard | undefined
  /** Undefined: the state stays. */
  readonly target: LeafStateValue | undefined
  readonly actions: readonly LeafAction[]
}

type Row = Readonly<Record<string, readonly Branch[]>>

const values: Readonly<Record<LeafStateKey, LeafStateValue>> = {
  READY: 'READY',
  BUSY: 'BUSY',
  'WAITING.attempt': { WAITING: 'attempt' },
  'WAITING.retry': { WAITING: 'retry' },
  'WAITING.decision': { WAITING: 'decision' }
}

interface ChartBranch {
  readonly guard?: keyof typeof leafGuards
  readonly target?: string
  readonly actions: readonly (keyof typeof leafActions)[]
}

type ChartEvents = Readonly<Record<string, readonly ChartBranch[]>>

const { READY, BUSY, WAITING } = blockChart.states
const rows: Readonly<Record<LeafStateKey, Row>> = {
  READY: rowOf(READY.on),
  BUSY: rowOf(BUSY.on),
  'WAITING.attempt': rowOf(WAITING.states.attempt.on, WAITING.on),
  'WAITING.retry': rowOf(WAITING.states.retry.on, WAITING.on),
  'WAITING.decision': rowOf(WAITING.states.decision.on, WAITING.on)
}

/** Inner handlers first, then those of the state around it, as in XState. */
function rowOf(inner: ChartEvents, outer: ChartEvents = {}): Row {
  const types = new Set([...Object.keys(inner), ...Object.keys(outer)])
  return Object.fromEntries(
    [...types].map((type) => [type, [...(inner[type] ?? []), ...(outer[type] ?? [])].map(branchOf)])
  )
}

function branchOf(branch: ChartBranch): Branch {
  return {
    guard: branch.guard === undefined ? undefined : leafGuards[branch.guard],
    target: branch.target === undefined ? undefined : values[keyOfTarget(branch.target)],
    actions: branch.actions.map((name) => leafActions[name])
  }
}

function keyOfTarget(target: string): LeafStateKey {
  const key = target.replace(`#${blockChart.id}.`, '')
  if (key in values) return key as LeafStateKey
  throw new TallyError('core.internal', { problem: `the block chart has no state ${target}` })
}

/** Name of a state in the table. */
export function leafStateKey(value: LeafStateValue): LeafStateKey {
  return typeof value === 'string' ? value : `WAITING.${value.WAITING}`
}

/** One step of the table. Pure apart from what it tells the sink; the same snapshot: ignored. */
export function stepLeaf(
  snapshot: LeafSnapshot,
  event: LeafEvent,
  sink: Sink,
  library: LeafLibrary
): LeafSnapshot {
  const branches = rows[leafStateKey(snapshot.value)][event.type]
  if (branches === undefined) return snapshot
  for (const { guard, target, actions } of branches) {
    if (guard !== undefined && !guard(snapshot.context, event, library)) continue
    let { context } = snapshot
    for (const action of actions) context = action(context, event, sink, library)
    return leafSnapshot(target ?? snapshot.value, context)
  }
  return snapshot
}

export function leafSnapshot(value: LeafStateValue, context: LeafContext): LeafSnapshot {
  return { status: 'active', output: undefined, error: undefined, value, context }
}

export function initialLeaf(identity: BlockIdentity): LeafSnapshot {
  return leafSnapshot('READY', idleExecution(identity))
}

/** After a restore, asks again for what the block was waiting for: entry actions do not run again. */
export function askAgain(snapshot: LeafSnapshot, sink: Sink): void {
  const { context } = snapshot
  switch (leafStateKey(snapshot.value)) {
    case 'READY':
      return
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
export function leafTable(library: LeafLibrary): LeafLogic {
  return {
    getInitialSnapshot: (_scope, identity) => initialLeaf(identity),
    transition: (snapshot, event, scope) =>
      stepLeaf(snapshot, event, new ScopeSink(scope, snapshot.context.identity.path), library),
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (persisted) => {
      // The envelope of the checkpoint was checked before (formats.md §7).
      const { value, context } = persisted as LeafSnapshot
      return leafSnapshot(values[leafStateKey(value)], context)
    },
    start: (snapshot, scope) =>
      askAgain(snapshot, new ScopeSink(scope, snapshot.context.identity.path))
  }
}

class ScopeSink implements Sink {
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
    if (parent === undefined) this.ask(rootAsk(this.#path, report))
    // Deferred, as sendParent is: the parent sees this actor's new snapshot.
    else this.#scope.defer(() => parent.send(report))
  }
}
