import type { Clock, Hash, IdentityId, Json, RunId, RunTrace } from '../../core/index.js'
import type { Response } from '../chart/protocol.js'
import type { Attribution, Block } from '../code/block.js'
import type { RunCheckpoint } from '../run/checkpoint.js'
import type { OpenWait, SealedFailure } from '../run/entries.js'
import type { Journal, Position } from '../run/journal.js'
import type { UnitGate } from './gate.js'
import type { Provider } from './performing.js'
import type { ActorPool } from './run-actors.js'
import type { Turns } from './turns.js'

/** An effect that is about to be sent for the first time. */
export interface AskedEffect {
  readonly effect: string
  /** Who started the run. */
  readonly principal: Json
  readonly block: Block
  /** Who does the work, where the kernel chose it. */
  readonly attribution: Attribution | undefined
}

/** What a run is handed by the runtime. */
export interface PumpHost {
  readonly journal: Journal
  readonly clock: Clock
  readonly turns: Turns
  readonly gate: UnitGate
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
  /** Hands on an event once everything up to `position` is durable. */
  emit(event: RunEvent, position: Position): void
}

/**
 * What a reader of a run gets, in order. `at` is the run's logical time, milliseconds.
 */
export type RunEvent = {
  readonly runId: RunId
  readonly at: number
  /** As the caller of the run gave it. */
  readonly trace?: RunTrace
} & (
  | { readonly type: 'run.started'; readonly name: string; readonly definitionHash: Hash }
  | { readonly type: 'run.resumed' }
  | {
      readonly type: 'block.started'
      readonly path: string
      readonly step: number
      readonly attempt: number
      readonly block: string
    }
  | {
      readonly type: 'block.settled'
      readonly path: string
      readonly step: number
      readonly attempt: number
      readonly block: string
      readonly response: Response
      /**
       * Hash of the receipt that the step left; failed steps and steps of atomic parents have none.
       */
      readonly receiptHash?: Hash
      /** Who did it, where the kernel chose it. */
      readonly dappId?: string
    }
  | {
      readonly type: 'effect.sealed'
      readonly path: string
      readonly step: number
      readonly seq: number
      readonly effect: string
      readonly ok: boolean
    }
  | ({ readonly type: 'waiting' } & OpenWait)
  | {
      readonly type: 'answered'
      readonly path: string
      readonly token: string
      readonly action: string
    }
  | { readonly type: 'log'; readonly path: string; readonly message: string; readonly data: Json }
  | {
      readonly type: 'run.finished'
      readonly status: 'done' | 'failed' | 'cancelled'
      readonly response: Response
      readonly receiptHash?: Hash
    }
)

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
  /** Without a checkpoint: an overlay is open, and only the journal has what is in it. */
  | { readonly kind: 'stopped'; readonly checkpoint: RunCheckpoint | undefined }
