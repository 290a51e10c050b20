import { failedResponse, failureResponse, type Outcome } from '../../code/index.js'
import { type Json, limits } from '../../core/index.js'
import { returnedDraft } from '../run/body.js'
import { settledDraft } from '../run/decide.js'
import { finishedDraft } from '../run/drafts.js'
import {
  type AttemptEnd,
  abortOf,
  attemptEnd,
  commitOf,
  conflictOf,
  tasksOver
} from '../run/ends.js'
import { type Overlay, overlayOf } from '../run/overlay.js'
import type { OverlayEndCommand } from '../run/run-state.js'
import { leafUnit, type UnitContext, unitContextOf } from '../run/unit.js'
import type { Attempt } from './attempt.js'
import type { RunEnd } from './host.js'
import type { Leaves } from './leaves.js'
import type { PumpParts } from './parts.js'

/** What commits are handed. */
export interface CommitsPort extends PumpParts {
  readonly leaves: Leaves
  /** The one unit of work of the run is done, and the run with it. */
  end(end: RunEnd): void
}

/**
 * The ends of attempts and of overlays, which become units of work: in their turn at the gate, and
 * again when what they have read has changed (L10).
 *
 * Owns: how often the outermost overlay had to run again. Does not own: the entries of an end,
 * which `run/` decides, or the gate.
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
    if (attempt.block.body !== undefined) return this.#returned(attempt, outcome)
    const end = attemptEnd(state, attempt, outcome)
    if (end === undefined) return this.runAgain(attempt)
    if (end.dataText === undefined) return this.#fail(attempt, end)
    const overlay = state.overlayAround(path)
    if (overlay !== undefined) return this.#settleInScope(attempt, end, overlay)
    return host.gate.blocks(attempt, attempt.view.writes.keys())
      ? this.#settleInTurn(attempt, end)
      : this.#commit(attempt, end)
  }

  /** The code of a workflow function has no receipt of its own: the run has (B12). */
  #returned(attempt: Attempt, outcome: Outcome): undefined {
    const { writer } = this.#pump
    const response = outcome.ok
      ? { success: true, data: JSON.parse(outcome.text) as Json, metadata: {} }
      : failureResponse(outcome)
    writer.record(returnedDraft(attempt, response, writer.now()))
  }

  #fail(attempt: Attempt, { response, rests }: Omit<AttemptEnd, 'dataText'>) {
    const draft = settledDraft(attempt, response, this.#pump.writer.now())
    const isWritten = this.#pump.writer.record(draft, rests === undefined ? {} : { rests })
    return isWritten ? undefined : this.runAgain(attempt)
  }

  /** Its overlay has it, and leaves a receipt for all that is in it. */
  #settleInScope(
    attempt: Attempt,
    { response, dataText = '' }: AttemptEnd,
    overlay: Overlay
  ): undefined {
    const { writer } = this.#pump
    overlay.know(response.data, dataText)
    const draft = settledDraft(attempt, response, writer.now(), overlayOf(attempt))
    writer.gather(draft, { dataText })
  }

  /** Another unit of work has reserved what this one changes, or runs alone (L10). */
  async #settleInTurn(attempt: Attempt, end: AttemptEnd): Promise<void> {
    const mayCommit = await this.#pump.host.gate.enter(attempt, attempt.view.writes.keys())
    if (mayCommit) return this.#commit(attempt, end)
    return this.#fail(attempt, { response: failedResponse('intent_conflict'), rests: undefined })
  }

  #commit(attempt: Attempt, { response, dataText = '' }: AttemptEnd): Promise<void> | undefined {
    const { state, writer } = this.#pump
    const unit = leafUnit(attempt, this.#context(), attempt.payloadText(), dataText)
    const draft = settledDraft(attempt, response, writer.now())
    if (!state.root.isUnit) {
      return this.#pump.writer.record(draft, { unit, dataText })
        ? undefined
        : this.runAgain(attempt)
    }
    // The run is this one unit of work: its end is in the same commit.
    const { at } = draft
    const isWritten = writer.recordBoth(
      draft,
      (journalHash) => finishedDraft(state, { at, status: 'done', response, journalHash }),
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
    const isAgainstOthers = state.overlayAround(attempt.ask.path) === undefined
    const isTooOften = isAgainstOthers && attempt.reruns > limits.CONFLICT_RERUNS_MAX
    if (isTooOften && !host.gate.runAlone(attempt)) await host.gate.enter(attempt, [])
    await leaves.run(attempt)
  }

  /** Ends the overlays that were asked to end; true when there were any. */
  endScopes(): boolean | Promise<boolean> {
    const { state, writer } = this.#pump
    if (state.openOverlays.size === 0) return false
    for (const overlay of state.openOverlays.values()) {
      if (overlay.closing?.tasks.isOver !== true) continue
      const { draft, more } = tasksOver(state, overlay, overlay.closing, writer.now())
      return this.#pump.writer.record(draft, more)
    }
    const asked = [...state.overlayEnds.values()].filter(
      ({ path }) => state.openOverlays.get(path)?.closing === undefined
    )
    return asked.length > 0 && this.#endAsked(asked)
  }

  async #endAsked(asks: readonly OverlayEndCommand[]): Promise<true> {
    const { state, host } = this.#pump
    for (const ask of asks) {
      const overlay = state.openOverlays.get(ask.path)
      if (overlay === undefined) continue
      const isTurn = overlay.outer !== undefined || ask.kind === 'scope.abort'
      if (isTurn || (await host.gate.enter(state, overlay.view.writes.keys())))
        this.#end(overlay, ask)
      // Another unit keeps what it has reserved: nothing has been done, so this one gives up (L10).
      else this.#giveUp(overlay, ask)
    }
    return true
  }

  #end(overlay: Overlay, ask: OverlayEndCommand): void {
    const { state, writer } = this.#pump
    const at = writer.now()
    if (ask.kind === 'scope.abort') {
      const { draft, more } = abortOf(state, overlay, ask, at)
      this.#pump.writer.record(draft, more)
      return
    }
    const commit = commitOf(overlay, ask, { state, at, context: this.#context() })
    if (commit === undefined || !this.#pump.writer.record(commit.draft, commit.more)) {
      this.#conflicted(overlay, ask)
    }
  }

  /** What it has read has changed: it runs again, unless it has acted outside (L10). */
  #conflicted(overlay: Overlay, ask: OverlayEndCommand): void {
    const { state, host, writer } = this.#pump
    // What was done outside depends on what was read: it cannot simply be done again.
    if (overlay.outside.hasActed) return this.#giveUp(overlay, ask)
    if (overlay.outer === undefined) {
      this.#conflicts += 1
      if (this.#conflicts > limits.CONFLICT_RERUNS_MAX) host.gate.runAlone(state)
    }
    const { draft, more } = conflictOf(ask, writer.now())
    this.#pump.writer.record(draft, more)
  }

  #giveUp(overlay: Overlay, { path, step, attempt }: OverlayEndCommand): void {
    const { state, writer } = this.#pump
    const ask = { path, step, attempt, response: failedResponse('intent_conflict') }
    const { draft, more } = abortOf(state, overlay, ask, writer.now())
    this.#pump.writer.record(draft, more)
  }

  /** Releases others: the outermost overlay is over. */
  release(): void {
    this.#conflicts = 0
    this.#pump.host.gate.release(this.#pump.state)
  }

  #context(): UnitContext {
    return unitContextOf(this.#pump.state, this.#pump.host.profile)
  }
}
