import type { Attribution, Block, EffectRequest, Response } from '../../code/index.js'
import {
  type Clock,
  elapsedMs,
  type Hash,
  type IdentityId,
  type Json,
  limits,
  nextTurn,
  type Redactor,
  type RunId,
  type TallyError
} from '../../core/index.js'
import type { WorkQueues } from '../../queue/index.js'
import type { RunCheckpoint } from '../run/checkpoint.js'
import type { AskedCall } from '../run/decide.js'
import type { AttemptKey, OpenWait, SealedFailure } from '../run/entries.js'
import type { RunEvent, ThrownAt } from '../run/events.js'
import type { Journal, Position } from '../run/journal.js'
import type { Provider } from '../run/provider.js'
import type { UnitGate } from './gate.js'
import type { RunObserver } from './observer.js'
import type { ActorPool } from './run-actors.js'

/** An effect that is about to be sent for the first time. */
export interface AskedEffect {
  readonly effect: string
  readonly request: Json
  /** Who started the run. */
  readonly principal: Json
  readonly block: Block
  /** Who does the work, where the kernel chose it. */
  readonly attribution: Attribution | undefined
}

/** An effect that is about to be performed, and where in its run it was asked for. */
export interface OutsideCall extends AttemptKey {
  readonly call: EffectRequest
  readonly provider: Provider | undefined
  /** A person has said that it is to be sent again. */
  readonly isOrdered: boolean
}

/** What performs an effect, and says whether it was performed. */
export type Performer = Pick<Provider, 'perform' | 'locate'>

/** What a run is handed by the runtime. */
export interface PumpHost {
  readonly journal: Journal
  readonly clock: Clock
  readonly turns: Turns
  readonly gate: UnitGate
  /** Where effects, and runs, wait for their turn. */
  readonly queues: WorkQueues
  /** Knows the secrets of this runtime: none of them is in what effects give back. */
  readonly redactor: Redactor
  /** Without it every run makes its own actors. */
  readonly actors?: ActorPool
  readonly identity: IdentityId
  readonly profile: Json
  /** `step`: every settled step is durable before the next begins (D2). */
  readonly durability: 'output' | 'step'
  block(name: string): Block | undefined
  provider(name: string): Provider | undefined
  /** Why who started a run may not have an effect sent (K14); undefined: it may. */
  refusesEffect?(asked: AskedEffect): SealedFailure | undefined
  /**
   * Stands in for everything outside: it is asked instead of what the code or a provider brings.
   * Undefined, or where it gives undefined: those perform.
   */
  outside?(asked: OutsideCall): Performer | undefined
  /** Sees what becomes of the run; undefined: nothing does. */
  readonly observer?: RunObserver | undefined
  /** Keeps what was thrown in an attempt, for people; undefined: nothing does. */
  threw?(runId: RunId, at: number, thrown: ThrownAt): void
  /** Hands on an event once everything up to `position` is durable. */
  emit(event: RunEvent, position: Position): void
  /** Whether events are read by anything; undefined: they may be. */
  isHeard?(): boolean
}

/**
 * Whether an effect runs ahead of the disk, which a crash may undo (D2): a read that is performed
 * again then.
 */
export function runsAhead(
  { sideEffects, durable }: Pick<AskedCall, 'sideEffects' | 'durable'>,
  { durability }: Pick<PumpHost, 'durability'>
): boolean {
  return sideEffects === 'none' && durable !== true && durability !== 'step'
}

/** Why a pump stopped. A message or a due time resumes a parked run. */
export type RunEnd =
  | {
      readonly kind: 'finished'
      readonly status: 'done' | 'failed' | 'cancelled'
      readonly response: Response
      readonly receiptHash: Hash | undefined
      /** Who did it, of a run that is one unit of work and left a receipt. */
      readonly dappId?: string
    }
  | {
      readonly kind: 'parked'
      readonly waits: readonly OpenWait[]
      readonly due: number | null
      readonly checkpoint: RunCheckpoint | undefined
    }
  /** It waits for its turn, and nothing is asked of it now. */
  | { readonly kind: 'held' }
  /** Without a checkpoint: an overlay is open, and only the journal has what is in it. */
  | {
      readonly kind: 'stopped'
      readonly checkpoint: RunCheckpoint | undefined
      /** Something around the run's code that has failed. */
      readonly cause?: TallyError | undefined
    }

/**
 * Shares the event loop among all runs of a runtime (D9): a run that continues after the slice is
 * used up first lets the loop turn, so that timers, sockets and the disk are served.
 */
export class Turns {
  #slice: { readonly end: number; readonly turn: Promise<void> } | undefined

  /** Undefined while the slice lasts; otherwise what to await before continuing. */
  yield(): Promise<void> | undefined {
    const now = elapsedMs()
    if (this.#slice === undefined) {
      const turn = nextTurn().then(() => {
        this.#slice = undefined
      })
      this.#slice = { end: now + limits.PUMP_SLICE_MS, turn }
      return undefined
    }
    return now < this.#slice.end ? undefined : this.#slice.turn
  }
}

/** Whether so much waits for the disk that a run has to wait, too (D9). */
export function isFarAhead(journal: Pick<Journal, 'backlog'>): boolean {
  const { items, bytes } = journal.backlog()
  return items > limits.RUN_AHEAD_ITEMS_MAX || bytes > limits.RUN_AHEAD_BYTES_MAX
}
