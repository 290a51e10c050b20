import type { EventEmitter } from 'eventemitter3'
import type { RecordedEntry, RunStarted } from '../../block/index.js'
import {
  blockError,
  type Hash,
  type IdentityId,
  type Json,
  limits,
  type RunId
} from '../../core/index.js'
import type {
  InspectionEvents,
  InspectionMessage,
  Inspector,
  RunMessages
} from '../../inspect/index.js'
import { lacksCode, readyRun, recordedRun } from '../code/recorded-run.js'
import type { Registry } from '../code/registry.js'
import type { DeliveredEvent } from '../run/channel.js'

/** What an inspector is shown. */
export interface InspectionOptions {
  /**
   * Shows payloads, responses and contexts, which else are replaced by their sizes. Runs that keep
   * anything private never show them. Default false.
   */
  readonly payloads?: boolean
}

/** Where runs are read that are shown. */
export interface InspectedLedger {
  readonly identity: IdentityId
  /** Entries of a run from a number on, as far as they are durable. */
  journal(runId: RunId, from: number): AsyncIterable<RecordedText>
}

interface RecordedText {
  readonly text: string
  readonly value: unknown
  readonly receiptHash?: Hash | undefined
}

interface Inspecting {
  readonly ledger: InspectedLedger
  readonly registry: Registry
  readonly events: EventEmitter<{ event: (event: DeliveredEvent) => void }>
}

/** What shows the runs of a ledger to observers and Stately's inspector. */
export class Inspections {
  readonly #parts: Inspecting
  readonly #watching = new Set<Watching>()

  constructor(parts: Inspecting) {
    this.#parts = parts
  }

  watch(observer: Inspector, options: InspectionOptions = {}): { unsubscribe(): void } {
    const watching = new Watching(this.#parts, observer, options)
    this.#watching.add(watching)
    return {
      unsubscribe: () => {
        watching.unsubscribe()
        this.#watching.delete(watching)
      }
    }
  }

  /** Throws `run.not_found`, `run.code_missing`, `run.definition_changed`. */
  async *run(runId: RunId, options: InspectionOptions = {}): AsyncGenerator<InspectionMessage> {
    const run = new InspectedRun(runId, this.#parts, options)
    yield* run.read()
    if (run.entries === 0) throw blockError('run.not_found', { runId })
  }

  /** Resolves when what is durable was shown to all. */
  async close(): Promise<void> {
    for (const watching of this.#watching) await watching.close()
  }
}

/**
 * Runs as far as they were shown.
 *
 * Owns: where the charts of each run stand that has not ended. Does not own: the ledger.
 */
export class InspectedRuns {
  readonly #parts: Omit<Inspecting, 'events'>
  readonly #options: InspectionOptions
  readonly #runs = new Map<RunId, InspectedRun>()
  /** Runs that were shown to their end, as many as are remembered. */
  readonly #ended = new Set<RunId>()

  constructor(parts: Omit<Inspecting, 'events'>, options: InspectionOptions) {
    this.#parts = parts
    this.#options = options
  }

  /** What a run did since it was read last. Throws `run.code_missing`, `run.definition_changed`. */
  async *read(runId: RunId): AsyncGenerator<InspectionMessage> {
    if (this.#ended.has(runId)) return
    const run = this.#runs.get(runId) ?? new InspectedRun(runId, this.#parts, this.#options)
    this.#runs.set(runId, run)
    yield* run.read()
    if (!run.hasEnded) return
    this.#runs.delete(runId)
    this.#ended.add(runId)
    if (this.#ended.size > limits.CACHE_ENTRIES_MAX) this.#forgetOldest()
  }

  #forgetOldest(): void {
    for (const runId of this.#ended) {
      this.#ended.delete(runId)
      return
    }
  }
}

/** One run as far as it was read. */
class InspectedRun {
  /** Entries that were read. */
  entries = 0
  hasEnded = false
  readonly #runId: RunId
  readonly #parts: Omit<Inspecting, 'events'>
  readonly #options: InspectionOptions
  #messages: RunMessages | undefined

  constructor(runId: RunId, parts: Omit<Inspecting, 'events'>, options: InspectionOptions) {
    this.#runId = runId
    this.#parts = parts
    this.#options = options
  }

  /** What came since it was read last. */
  async *read(): AsyncGenerator<InspectionMessage> {
    const { ledger, registry } = this.#parts
    for await (const { text, value, receiptHash } of ledger.journal(this.#runId, this.entries)) {
      // The journal gives back what the runtime has written.
      const entry = value as unknown as RecordedEntry['entry']
      this.#messages ??= await this.#begun(entry as RunStarted)
      this.entries = entry.n + 1
      this.hasEnded = entry.k === 'run.finished'
      for (const message of this.#messages.take({ entry, text, receiptHash })) {
        yield registry.redactor.json(message as unknown as Json) as unknown as InspectionMessage
      }
    }
  }

  async #begun(started: RunStarted): Promise<RunMessages> {
    const { ledger, registry } = this.#parts
    const runId = this.#runId
    // Nothing continues here: what only a later step would need may be missing.
    const recorded = readyRun(runId, await recordedRun(registry.documents, started))
    const { root, compiled, block } = recorded
    const library = compiled.kind === 'leaf' ? compiled.library : compiled.plan
    const { RunMessages } = await import('../../inspect/index.js')
    const { payloads = false } = this.#options
    const { identity } = ledger
    return new RunMessages({ runId, identity, root, compiled, library, block, payloads })
  }
}

/**
 * Shows an observer of XState every run that does anything from now on, from its first entry.
 *
 * Owns: how far each run was shown. Does not own: the runs; an observer that throws changes none.
 *
 * - N4: runs that move at the same time are shown one after the other, each in its order.
 */
class Watching {
  readonly #parts: Inspecting
  readonly #observer: Inspector
  readonly #runs: InspectedRuns
  /** Runs that have moved since they were shown. */
  readonly #moved = new Set<RunId>()
  readonly #listener = ({ runId }: DeliveredEvent) => this.#hear(runId)
  #events: InspectionEvents | undefined
  #showing: Promise<void> | undefined
  #isShowing = false
  #isOver = false

  constructor(parts: Inspecting, observer: Inspector, options: InspectionOptions) {
    this.#parts = parts
    this.#observer = observer
    this.#runs = new InspectedRuns(parts, options)
    parts.events.on('event', this.#listener)
  }

  unsubscribe(): void {
    this.#isOver = true
    this.#parts.events.off('event', this.#listener)
  }

  /** Resolves when what is durable was shown. */
  async close(): Promise<void> {
    await this.#showing
    this.unsubscribe()
  }

  #hear(runId: RunId): void {
    this.#moved.add(runId)
    if (!this.#isShowing) this.#showing = this.#show()
  }

  async #show(): Promise<void> {
    this.#isShowing = true
    try {
      const { InspectionEvents } = await import('../../inspect/index.js')
      this.#events ??= new InspectionEvents()
      for (const runId of this.#moved) {
        this.#moved.delete(runId)
        await this.#showRun(runId, this.#events)
        if (this.#isOver) return
      }
    } catch (error) {
      this.unsubscribe()
      const why = error instanceof Error ? error.message : String(error)
      process.emitWarning(`An inspector gets nothing any more: ${why}`)
    } finally {
      this.#isShowing = false
    }
  }

  async #showRun(runId: RunId, events: InspectionEvents): Promise<void> {
    try {
      for await (const message of this.#runs.read(runId)) {
        if (this.#isOver) return
        events.give(message, this.#observer)
      }
    } catch (error) {
      // What rests without its code has no charts to show.
      if (!lacksCode(error)) throw error
    }
  }
}
