import type { EventEmitter } from 'eventemitter3'
import type { Position, PumpHost } from '../block/index.js'
import type { Json } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import type { DeliveredEvent } from './channel.js'
import type { Registry } from './registry.js'

export interface RunsOptions {
  readonly ledger: Ledger
  readonly registry: Registry
  readonly host: Omit<PumpHost, 'emit'>
  /** Told when a step of a run has changed the tables of the kernel, and where that stands. */
  readonly onKernelWork?: (position: Position) => void
  readonly events: EventEmitter<{ event: (event: DeliveredEvent) => void }>
}

export interface StartTerms {
  readonly inputs: Json
  readonly principal: Json
  /** The id is a new one: no ledger can have it. */
  readonly isNew?: boolean
}

/** What a run is started with, checked and copied. */
export interface Start extends StartTerms {
  /** Canonical JSON of the inputs. */
  readonly text: string
}
