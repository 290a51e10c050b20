import type { SideEffectClass } from '../../code/index.js'
import type { Hash, RunTrace } from '../../core/index.js'
import type { AttemptCommand, BlockReport, CompositeEvent } from '../chart/protocol.js'
import type { BlockStands } from '../chart/pump-port.js'
import type { AttemptKey, JournalEntry } from '../run/entries.js'
import type { Position } from '../run/journal.js'

/** An execution of a child by its parent. */
export interface StepPlace {
  readonly path: string
  readonly step: number
  readonly block: string
  readonly sideEffects: SideEffectClass
}

/** How an entry came to the pump. */
export interface TakenEntry {
  /** Of the receipt that it completed. */
  readonly receiptHash: Hash | undefined
  /** `recovered`: the journal had it already, when the run was rebuilt. */
  readonly kind: 'live' | 'recovered'
  /** Up to where the ledger must be durable; undefined: it is not appended yet. */
  readonly position: Position | undefined
}

/**
 * Sees what becomes of one run, live and while it is rebuilt. Called inside of decisions: it
 * returns at once, never throws, and changes nothing that it is given.
 */
export interface RunObserver {
  /** Entries that it has seen, from the first: a run is rebuilt so that it sees all the others. */
  readonly entries: number
  /** An entry, before it is applied. */
  took(entry: JournalEntry, taken: TakenEntry): void
  /** All that it took without a position is appended: the ledger must be durable up to here. */
  appended(position: Position): void
  /** An attempt is asked for, inside of these composites and plans, outermost first. */
  asked(ask: AttemptCommand, at: number, around: readonly StepPlace[]): void
  /** A child has said to its parent what became of it. */
  reported(path: string, report: BlockReport): void
  /** An effect is about to be performed; gives the trace that what is called continues. */
  sending(effect: SentEffect): string | undefined
  /** What an effect has done was found, rather than done. */
  located(effect: SentEffect): void
  /** A run of one step that was done at once: none of the above is called. */
  did(run: DoneAtOnce): void
}

/** Sees where the charts of a run stand after each of its entries, live and while it is rebuilt. */
export interface RunMoments {
  /**
   * An entry, before it is applied, and the hash of the journal with it. The ledger must be durable
   * up to `position`: 0 where the journal had the entry, undefined where it is not appended yet.
   */
  took(entry: JournalEntry, journalHash: string, position: Position | undefined): void
  /** All that it took without a position is appended: the ledger must be durable up to here. */
  appended(position: Position): void
  /** What the last entry has led to: a block got an event, and stands there now. */
  moved(path: string, event: CompositeEvent, state: BlockStands): void
  /** A child tells its parent how its execution ended. */
  reported(path: string, isSuccess: boolean): void
}

/** An effect on its way out. */
export interface SentEffect extends AttemptKey {
  readonly seq: number
  readonly effect: string
  readonly requestHash: Hash
  readonly key: Hash
  /** Milliseconds. */
  readonly at: number
}

/** A run of one step from its beginning to its end. */
export interface DoneAtOnce {
  readonly name: string
  readonly definitionHash: Hash
  readonly trace: RunTrace | undefined
  /** When it began and ended, milliseconds. */
  readonly from: number
  readonly to: number
  readonly receiptHash: Hash
  readonly position: Position
}
