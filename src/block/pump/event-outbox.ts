import type { Hash, RunId } from '../../core/index.js'
import type { Response } from '../chart/protocol.js'
import type { AttemptKey, JournalEntry } from '../run/entries.js'
import { traced } from '../run/unit.js'
import { openWaitOf } from '../run/waits.js'
import type { PumpHost, RunEvent } from './host.js'
import type { JournalWriter } from './journal-writer.js'
import type { LiveState } from './parts.js'

/**
 * Tells those who watch a run.
 *
 * Owns: events of entries that the journal does not have yet.
 *
 * D2: an event comes after the entries that it reports.
 */
export class EventOutbox {
  readonly #state: LiveState
  readonly #writer: JournalWriter
  readonly #host: Pick<PumpHost, 'emit'>
  #held: RunEvent[] = []

  constructor(state: LiveState, writer: JournalWriter, host: Pick<PumpHost, 'emit'>) {
    this.#state = state
    this.#writer = writer
    this.#host = host
  }

  emit(event: RunEvent): void {
    const trace = this.#state.started?.trace
    this.#held.push(trace === undefined ? event : { ...event, trace })
    this.#tell()
  }

  /** Reports an entry that was appended and is not applied yet. */
  entry(entry: JournalEntry): void {
    const event = eventOf(entry, this.#state)
    if (event !== undefined) this.emit(event)
  }

  /** Leaves nothing in memory that the journal and those who watch should have. */
  handIn(): void {
    this.#writer.handIn()
    this.#tell()
  }

  #tell(): void {
    if (this.#writer.isHolding || this.#held.length === 0) return
    for (const event of this.#held.splice(0)) this.#host.emit(event, this.#writer.position)
  }
}

/** What those who watch a run hear of an entry, before it is applied. */
function eventOf(entry: JournalEntry, state: LiveState): RunEvent | undefined {
  const { run, at } = entry
  const runId = run as RunId
  const { receiptHash } = state
  switch (entry.k) {
    case 'run.started': {
      const { name, definitionHash } = entry
      return { type: 'run.started', runId, at, name, definitionHash, ...traced(entry) }
    }
    case 'run.resumed':
      return { type: 'run.resumed', runId, at }
    case 'sealed': {
      const { path, step, seq, effect, ok } = entry
      return { type: 'effect.sealed', runId, at, path, step, seq, effect, ok }
    }
    case 'wait':
      if (entry.actions.length === 0) return undefined
      return { type: 'waiting', at, ...openWaitOf(entry, state.identity), runId }
    case 'settled': {
      const attempt = state.attemptAt(entry)
      if (attempt === undefined) return undefined
      const { block, attribution } = attempt
      return settledEvent(entry, block.name, { receiptHash, dappId: attribution?.dappId })
    }
    case 'scope': {
      const overlay = state.openOverlays.get(entry.path)
      const isOver = entry.outcome === 'aborted' || entry.outcome === 'committed'
      if (overlay === undefined || !isOver) return undefined
      // A commit inside another overlay is none yet.
      if (entry.outcome === 'committed' && overlay.outer !== undefined) return undefined
      return settledEvent(entry, overlay.ask.block, { receiptHash, dappId: undefined })
    }
    case 'run.finished': {
      const { status, response } = entry
      const receipt = receiptHash === undefined ? {} : { receiptHash }
      return { type: 'run.finished', runId, at, status, response, ...receipt }
    }
    default:
      return undefined
  }
}

function settledEvent(
  entry: AttemptKey & { readonly run: string; readonly at: number; readonly response: Response },
  block: string,
  by: { readonly receiptHash: Hash | undefined; readonly dappId: string | undefined }
): RunEvent {
  const { receiptHash, dappId } = by
  return {
    type: 'block.settled',
    runId: entry.run as RunId,
    at: entry.at,
    path: entry.path,
    step: entry.step,
    attempt: entry.attempt,
    block,
    response: entry.response,
    ...(receiptHash === undefined ? undefined : { receiptHash }),
    ...(dappId === undefined ? undefined : { dappId })
  }
}
