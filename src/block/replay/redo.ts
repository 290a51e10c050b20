import type { Hash, Json, RunId } from '../../core/index.js'
import type { Sealed, Settled } from '../run/entries.js'
import type { UnitDraft } from '../run/journal.js'
import type { Provider } from '../run/provider.js'
import type { OpenAttempt, OpenOverlay } from '../run/run-state.js'
import { type Finding, unexpected } from './finding.js'

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

/** An attempt that a chart has asked for and that has not settled yet. */
export interface AskedAttempt extends OpenAttempt {
  /** Canonical JSON of what the code is given. */
  readonly payloadText: string
  /** Where in the run and in the ledger it was asked for. */
  readonly asked: Moment
}

/** A place in the order of things: entries of the run, and items of the ledger. */
export interface Moment {
  readonly entry: number
  readonly item: number
}

/** One step inside an overlay that was not rolled back. */
export type OverlayStep =
  | { readonly kind: 'leaf'; readonly attempt: AskedAttempt; readonly settled: Settled }
  /** `n`: number of the entry with which it was joined. */
  | { readonly kind: 'scope'; readonly overlay: OpenedOverlay; readonly n: number }

/** An overlay of the run, with what has happened in it so far (C4). */
export interface OpenedOverlay extends OpenOverlay {
  /** Where in the run and in the ledger it was opened. */
  readonly asked: Moment
  readonly outer: OpenedOverlay | undefined
  readonly steps: OverlayStep[]
  /** Attempts that were cancelled after a write that something undoes. */
  readonly cancelled: AskedAttempt[]
}

/**
 * State below a unit of work, with what has become of it lately: something that failed is not
 * checked at a commit, so what it has read may not be what is there when its failure is recorded.
 */
export interface Ground extends Below {
  /** Whether the value of a key is withheld. */
  isWithheld(key: string): boolean
  /** Whether a key was changed by an item after this one. */
  changedSince(item: number, key: string): boolean
  /** Whether any key below a prefix was. */
  changedBelowSince(item: number, prefix: string): boolean
}

/** What was read while something was done again. */
export class Seen {
  readonly keys = new Set<string>()
  readonly prefixes = new Set<string>()

  /** The same state, with a note of what is read. */
  through<State extends Below>(below: State): Below {
    return {
      read: (key) => {
        this.keys.add(key)
        return below.read(key)
      },
      list: (prefix) => {
        this.prefixes.add(prefix)
        return below.list(prefix)
      }
    }
  }

  /** Whether something that was read cannot be had. */
  isWithheld(ground: Ground): boolean {
    return some(this.keys, (key) => ground.isWithheld(key))
  }

  /** Whether something that was read has been changed after an item. */
  hasChanged(ground: Ground, { item }: Moment): boolean {
    return (
      some(this.keys, (key) => ground.changedSince(item, key)) ||
      some(this.prefixes, (prefix) => ground.changedBelowSince(item, prefix))
    )
  }

  /** Whether overlays around have changed something that was read, after an entry of the run. */
  hasChangedAround(overlay: OpenedOverlay | undefined, { entry }: Moment): boolean {
    for (let around = overlay; around !== undefined; around = around.outer) {
      const later = around.steps.filter((step) => numberOf(step) >= entry)
      if (later.some((step) => this.#meets(step))) return true
    }
    return false
  }

  #meets(step: OverlayStep): boolean {
    if (step.kind === 'scope') return step.overlay.steps.some((inner) => this.#meets(inner))
    const { writes = [] } = step.settled.overlay ?? {}
    return writes.some(
      ([key]) => this.keys.has(key) || some(this.prefixes, (prefix) => key.startsWith(prefix))
    )
  }
}

function numberOf(step: OverlayStep): number {
  return step.kind === 'leaf' ? step.settled.n : step.n
}

function some<Item>(items: Iterable<Item>, holds: (item: Item) => boolean): boolean {
  for (const item of items) if (holds(item)) return true
  return false
}
