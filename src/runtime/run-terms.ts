import type { EventEmitter } from 'eventemitter3'
import type { Position, PumpHost } from '../block/index.js'
import { canonicalizeLedgerValue, type Hash, type Json, sha256Hex } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import type { DeliveredEvent } from './channel.js'
import { checkBytes } from './messages.js'
import type { Quarantine } from './quarantine.js'
import type { Registry } from './registry.js'

export interface RunsOptions {
  readonly ledger: Ledger
  readonly registry: Registry
  readonly host: Omit<PumpHost, 'emit'>
  /** Told when a step of a run has changed the tables of the kernel, and where that stands. */
  readonly onKernelWork?: (position: Position) => void
  /** Which runs came out otherwise, and are not to go on. */
  readonly quarantine: Pick<Quarantine, 'check' | 'holds' | 'refusal' | 'failed' | 'refuses'>
  readonly events: EventEmitter<{ event: (event: DeliveredEvent) => void }>
}

export interface StartTerms {
  readonly inputs: Json
  readonly principal: Json
  /** The id is a new one: no ledger can have it. */
  readonly isNew?: boolean
}

/** What a run is started with, checked and copied. */
export class Start {
  readonly principal: Json
  readonly isNew: boolean
  /** Canonical JSON of the inputs. */
  readonly text: string
  #inputs: Json | undefined
  #inputHash: Hash | undefined

  /** Throws for inputs that a journal cannot keep. */
  constructor({ inputs, principal, isNew = false }: StartTerms) {
    this.text = canonicalizeLedgerValue(inputs)
    checkBytes('The inputs of a run in bytes', this.text)
    this.principal = principal
    this.isNew = isNew
  }

  /**
   * A copy, with its keys in one order: the caller's object may change, and must not change the
   * run.
   */
  get inputs(): Json {
    this.#inputs ??= JSON.parse(this.text) as Json
    return this.#inputs
  }

  get inputHash(): Hash {
    this.#inputHash ??= sha256Hex(this.text)
    return this.#inputHash
  }
}
