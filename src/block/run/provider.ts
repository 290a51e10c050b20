import type { Compensation, EffectCall, Located } from '../../code/index.js'
import type { Json, Redactor } from '../../core/index.js'
import type { JournalEntry } from './entries.js'

/** Answers effects under one name; may be registered with the runtime instead of given inline. */
export interface Provider {
  readonly name: string
  perform(call: EffectCall): Promise<Json> | Json
  locate?(call: EffectCall): Promise<Located<Json>> | Located<Json>
  /** How what it did is undone (C4); a block's own `compensate` comes first. */
  readonly compensate?: Compensation
  /**
   * Called once, before this process starts or resumes any run. What is read are the journals of
   * the runs that earlier processes have left unfinished, one by one.
   */
  recover?(unfinished: UnfinishedJournals): Promise<void>
  /**
   * Effects whose requests and results {@link recover} is given, and nothing else. Without it whole
   * journals are read, which takes its time where many runs wait.
   */
  readonly recoversFrom?: readonly string[]
  /** Knows the secrets that the provider reads; the runtime replaces them wherever it writes. */
  readonly redactor?: Redactor
}

/** Journals of the runs that have not ended, one after the other. */
export type UnfinishedJournals = AsyncIterable<readonly JournalEntry[]>
