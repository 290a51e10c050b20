import type { Hash, Json, RunId } from '../../core/index.js'
import { type Finding, unexpected } from '../finding.js'
import type { UnitDraft } from '../journal.js'
import type { Provider } from '../pump/performing.js'
import type { Sealed } from '../run/entries.js'

/** State below a unit of work, as it was when the unit committed. */
export interface Below {
  /** Canonical JSON; undefined when absent. */
  read(key: string): string | undefined
  list(prefix: string): readonly string[]
}

/** How to do something again. */
export interface RedoOptions {
  readonly runId: RunId
  readonly base: Hash | 'GENESIS'
  /** How often to execute; the results must be the same each time (P2). */
  readonly executions: number
  /** Who started the run (K13). */
  readonly principal: Json
  /** Compensations are worked out again, too. */
  readonly undo: CompensationPort
}

/**
 * Could not be done again, which is no finding: a body is withheld, or other code is registered.
 */
export interface Skipped {
  readonly kind: 'skipped'
  readonly why: 'withheld' | 'code'
  readonly what: string
}

/** A write of a step inside an overlay whose journal entry says what undoes it (C4). */
export interface RecordedCompensation {
  readonly entry: Sealed
  /** Unless the block says itself how its writes are undone: the effect whose provider does. */
  readonly provider: string | undefined
  /** What the block's or the provider's function says here. */
  readonly finding: Finding | undefined
}

/** Where compensations are worked out again, and what is to be made of them. */
export interface CompensationPort {
  provider(name: string): Provider | undefined
  /** A finding that is to count. */
  workedOut(undo: RecordedCompensation): Finding | undefined
}

/** What is known of the unit that an entry completes. */
export interface RecordedUnit {
  /** `run.at` of its receipt. */
  readonly at: number
  readonly profile: Json
}

export type UnitAgain =
  | { readonly kind: 'unit'; readonly draft: UnitDraft }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | Skipped

/** A difference that ends the work on a unit. */
export function found(finding: Finding | undefined): UnitAgain {
  return { kind: 'finding', finding: finding ?? unexpected('receipt', 'another', 'this one') }
}

/** What doing something that had failed again came to. */
export type FailureAgain =
  /** It failed again, with the same reason and details. */
  | { readonly kind: 'same' }
  | { readonly kind: 'finding'; readonly finding: Finding }
  /** Not done again, or not to be compared, and why. */
  | {
      readonly kind: 'skipped'
      readonly why: string
      /** It could be done again where the body is that is withheld here. */
      readonly isWithheld: boolean
    }

export function skipped(why: string): FailureAgain & { readonly kind: 'skipped' } {
  return { kind: 'skipped', why, isWithheld: false }
}

/** What it depends on is withheld here. */
export function lacksBody(what: string): FailureAgain & { readonly kind: 'skipped' } {
  return { kind: 'skipped', why: `${what} is withheld`, isWithheld: true }
}
