import { limits } from '../../core/index.js'
import { failedResponse } from '../protocol.js'
import { settledDraft } from '../run/decide.js'
import type { Outcome } from '../run/outcome.js'
import type { ScopeEndAsk } from '../run/run-state.js'
import { overlayOf, type Scope } from '../run/scope.js'
import { abortOf, commitOf, conflictOf, errandsOver } from '../run/scope-ends.js'
import { type AttemptEnd, attemptEnd } from '../run/settle.js'
import { leafUnit, type UnitContext, unitContextOf } from '../run/unit.js'
import type { Attempt } from './attempt.js'
import type { RunEnd } from './host.js'
import type { Leaves } from './leaves.js'
import type { PumpParts } from './parts.js'

/** What commits are handed beside the parts of the pump. */
export interface CommitsPort extends PumpParts {
  readonly leaves: Leaves
  /** Appends the two entries with which a run of one unit ends; false: what it read has changed. */
  recordLast(...given: Parameters<PumpParts['book']['appendBoth']>): boolean
  /** Keeps an entry of an overlay until others follow. */
  gather(...given: Parameters<PumpParts['book']['gather']>): void
  /** The one unit of work of the run is done, and the run with it. */
  end(end: RunEnd): void
}

/**
 * The ends of attempts and of overlays, which become units of work: in their turn at the gate, and
 * again when what they have read has changed (L10).
 *
 * Owns: how often the outermost overlay had to run again. Does not own: what an end comes to, which
 * `run/` decides, or the gate.
 */
export class Commits {
  readonly #pump: CommitsPort
  /** How often the outermost overlay found that what it had read has changed. */
  #conflicts = 0

  constructor(pump: CommitsPort) {
    this.#pump = pump
  }

  /**
   * An attempt's code has ended: its result becomes a receipt, or its failure goes to the chart.
   */
  settle(attempt: Attempt, outcome: Outcome): Promise<void> | undefined {
    const { state, host } = this.#pump
    const { path } = attempt.ask
    if (state.attempts.get(path) !== attempt) return undefined
    const end = attemptEnd(state, attempt, outcome)
    if (end === undefined) return this.runAgain(attempt)
    if (end.dataText === undefined) return this.#fail(attempt, end)
    const scope = state.scopeAround(path)
    if (scope !== undefined) return this.#settleInScope(attempt, end, scope)
    return host.gate.blocks(attempt, attempt.view.writes.keys())
      ? this.#settleInTurn(attempt, end)
      : this.#commit(attempt, end)
  }

  #fail(attempt: Attempt, { response, rests }: Omit<AttemptEnd, 'dataText'>) {
    const draft = settledDraft(attempt, response, this.#pump.book.now())
    const isWritten = this.#pump.record(draft, rests === undefined ? {} : { rests })
    return isWritten ? undefined : this.runAgain(attempt)
  }

  /** Its overlay has it, and leaves a receipt for all that is in it. */
  #settleInScope(
    attempt: Attempt,
    { response, dataText = '' }: AttemptEnd,
    scope: Scope
  ): undefined {
    const { book } = this.#pump
    scope.know(response.data, dataText)
    const draft = settledDraft(attempt, response, book.now(), overlayOf(attempt))
    this.#pump.gather(draft, { dataText })
  }

  /** Another unit of work has reserved what this one changes, or runs alone (L10). */
  async #settleInTurn(attempt: Attempt, end: AttemptEnd): Promise<void> {
    const mayCommit = await this.#pump.host.gate.enter(attempt, attempt.view.writes.keys())
    if (mayCommit) return this.#commit(attempt, end)
    return this.#fail(attempt, { response: failedResponse('intent_conflict'), rests: undefined })
  }

  #commit(attempt: Attempt, { response, dataText = '' }: AttemptEnd): Promise<void> | undefined {
    const { state, book } = this.#pump
    const unit = leafUnit(attempt, this.#context(), attempt.payloadText(), dataText)
    const draft = settledDraft(attempt, response, book.now())
    if (!state.root.isUnit) {
      return this.#pump.record(draft, { unit, dataText }) ? undefined : this.runAgain(attempt)
    }
    // The run is this one unit of work: its end is in the same commit.
    const { at } = draft
    const isWritten = this.#pump.recordLast(
      draft,
      (journalHash) => ({ k: 'run.finished', at, status: 'done', response, journalHash }),
      { unit, dataText }
    )
    if (!isWritten) return this.runAgain(attempt)
    const { receiptHash } = state
    const { dappId } = unit
    this.#pump.end({ kind: 'finished', status: 'done', response, receiptHash, dappId })
    return undefined
  }

  /** Its reads changed before its turn came: again, on the state as it is now (L10). */
  async runAgain(attempt: Attempt): Promise<void> {
    const { state, host, leaves } = this.#pump
    attempt.rewind()
    const isAgainstOthers = state.scopeAround(attempt.ask.path) === undefined
    const isTooOften = isAgainstOthers && attempt.reruns > limits.CONFLICT_RERUNS_MAX
    if (isTooOften && !host.gate.runAlone(attempt)) await host.gate.enter(attempt, [])
    await leaves.run(attempt)
  }

  /** Ends the overlays that were asked to end; true when there were any. */
  endScopes(): boolean | Promise<boolean> {
    const { state, book } = this.#pump
    if (state.scopes.size === 0) return false
    for (const scope of state.scopes.values()) {
      if (scope.closing?.errands.isOver !== true) continue
      const { draft, more } = errandsOver(state, scope, scope.closing, book.now())
      return this.#pump.record(draft, more)
    }
    const asked = [...state.scopeEnds.values()].filter(
      ({ path }) => state.scopes.get(path)?.closing === undefined
    )
    return asked.length > 0 && this.#endAsked(asked)
  }

  async #endAsked(asks: readonly ScopeEndAsk[]): Promise<true> {
    const { state, host } = this.#pump
    for (const ask of asks) {
      const scope = state.scopes.get(ask.path)
      if (scope === undefined) continue
      const isTurn = scope.outer !== undefined || ask.kind === 'scope.abort'
      if (isTurn || (await host.gate.enter(state, scope.view.writes.keys()))) this.#end(scope, ask)
      // Another unit keeps what it has reserved: nothing has been done, so this one gives up (L10).
      else this.#giveUp(scope, ask)
    }
    return true
  }

  #end(scope: Scope, ask: ScopeEndAsk): void {
    const { state, book } = this.#pump
    const at = book.now()
    if (ask.kind === 'scope.abort') {
      const { draft, more } = abortOf(state, scope, ask, at)
      this.#pump.record(draft, more)
      return
    }
    const commit = commitOf(scope, ask, { state, at, context: this.#context() })
    if (commit === undefined || !this.#pump.record(commit.draft, commit.more)) {
      this.#conflicted(scope, ask)
    }
  }

  /** What it has read has changed: it runs again, unless it has acted outside (L10). */
  #conflicted(scope: Scope, ask: ScopeEndAsk): void {
    const { state, host, book } = this.#pump
    // What was done outside rests on what was read: it cannot simply be done again.
    if (scope.outside.hasActed) return this.#giveUp(scope, ask)
    if (scope.outer === undefined) {
      this.#conflicts += 1
      if (this.#conflicts > limits.CONFLICT_RERUNS_MAX) host.gate.runAlone(state)
    }
    const { draft, more } = conflictOf(ask, book.now())
    this.#pump.record(draft, more)
  }

  #giveUp(scope: Scope, { path, step, attempt }: ScopeEndAsk): void {
    const { state, book } = this.#pump
    const ask = { path, step, attempt, response: failedResponse('intent_conflict') }
    const { draft, more } = abortOf(state, scope, ask, book.now())
    this.#pump.record(draft, more)
  }

  /** Lets others go on: the outermost overlay is over. */
  release(): void {
    this.#conflicts = 0
    this.#pump.host.gate.release(this.#pump.state)
  }

  #context(): UnitContext {
    return unitContextOf(this.#pump.state, this.#pump.host.profile)
  }
}
