import type { EventEmitter } from 'eventemitter3'
import type { Position, PumpHost } from '../block/index.js'
import {
  canonicalizeLedgerValue,
  type Hash,
  isJsonObject,
  type Json,
  type JsonObject,
  sha256Hex,
  TallyError
} from '../core/index.js'
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
  /** Context of the root's request (B1). Default: none. */
  readonly context?: JsonObject | undefined
  /** The id is a new one: no ledger can have it. */
  readonly isNew?: boolean
}

/** What a run is started with, checked and copied. */
export class Start {
  readonly principal: Json
  readonly isNew: boolean
  /** Canonical JSON of the inputs. */
  readonly text: string
  /** Canonical JSON of the context; undefined when it is empty. */
  readonly contextText: string | undefined
  #inputs: Json | undefined
  #context: JsonObject | undefined
  #inputHash: Hash | undefined

  /** Throws for inputs and for a context that a journal cannot keep. */
  constructor({ inputs, principal, context, isNew = false }: StartTerms) {
    this.text = canonicalizeLedgerValue(inputs)
    checkBytes('The inputs of a run in bytes', this.text)
    this.contextText = context === undefined ? undefined : contextTextOf(context)
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

  /** A copy too; undefined when it is empty. */
  get context(): JsonObject | undefined {
    if (this.contextText === undefined) return undefined
    this.#context ??= JSON.parse(this.contextText) as JsonObject
    return this.#context
  }

  get inputHash(): Hash {
    this.#inputHash ??= sha256Hex(this.text)
    return this.#inputHash
  }
}

function contextTextOf(context: JsonObject): string | undefined {
  const text = canonicalizeLedgerValue(context)
  if (!isJsonObject(JSON.parse(text) as Json)) {
    throw new TallyError('run.invalid_context', { problem: 'it is no object' })
  }
  checkBytes('The context of a run in bytes', text)
  return text === '{}' ? undefined : text
}
