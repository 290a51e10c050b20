import type { Block, RecordedProvider } from '../../code/index.js'
import {
  chainJournal,
  type EvidenceDraft,
  type Hash,
  type IdentityId,
  type RunId,
  type UnitId
} from '../../core/index.js'
import type { LeafLibrary } from '../chart/leaf.js'
import type { AttemptCommand, BlockCommand, Delivery, PumpCommand } from '../chart/protocol.js'
import type { CompiledFunction, CompiledNode } from '../document/compiled.js'
import { apply, takeCommand } from '../run/apply.js'
import { type JournalEntry, type OverlayEnded, placeKey, type Settled } from '../run/entries.js'
import { overlayEvidence, releaseEvidence, runEvidence } from '../run/evidence.js'
import { Outside } from '../run/outside.js'
import { blockOf, isDeferredTask, isOverlayTask } from '../run/overlay-tasks.js'
import { Past } from '../run/past.js'
import type { RootBlock } from '../run/root-block.js'
import type { Driver, OverlayOpenCommand } from '../run/run-state.js'
import type { WaitingSignal } from '../run/signals.js'
import { unitIdOf } from '../run/unit.js'
import { signedResultOf } from './answer-checks.js'
import { bodyAgain } from './body-work.js'
import { checkEntry, startFinding } from './entry-checks.js'
import { type FailureOptions, failureAgain, rollbackAgain } from './failure-work.js'
import { type Finding, unexpected } from './finding.js'
import { type FoldObserver, RunFold } from './fold.js'
import type { OpenOptions } from './open-work.js'
import { blocksIn, type ChosenStep, chosenIn } from './overlay-again.js'
import { overlayCompletes } from './overlay-ends.js'
import type {
  AskedAttempt,
  Below,
  FailureAgain,
  OpenedOverlay,
  RecordedUnit,
  RedoOptions,
  UnitAgain
} from './redo.js'
import { ReplayState } from './replay-state.js'
import { unitAgain } from './unit-work.js'

const NOT_HASHED = '' as Hash
const NO_UNIT = '' as UnitId

export interface RunReplayOptions {
  readonly runId: RunId
  readonly identity: IdentityId
  /** The run's definition, compiled again. */
  readonly root: RootBlock
  readonly compiled: CompiledNode | CompiledFunction
  readonly library: LeafLibrary
  readonly block: (name: string) => Block | undefined
  /** Sees what its charts get, and what becomes of them. */
  readonly observer?: FoldObserver
  /** Only its charts are wanted: nothing is compared or done again, so no hashes are kept. */
  readonly isPicture?: boolean
}

/**
 * One run done again from its journal: the recorded deliveries go through the pure charts, which
 * must ask for exactly what was attempted, in order; units of work are executed again with their
 * recorded results.
 *
 * Owns: the run's fold and what it has led to. Does not own: the ledger, or what a receipt says; it
 * gives the unit that should be there, and the reader of the ledger compares.
 *
 * - D3: entries are taken one at a time in recorded order.
 * - D5: the same entries give the same units, byte for byte.
 */
export class RunReplay implements Driver<AskedAttempt, OpenedOverlay> {
  readonly #options: RunReplayOptions
  readonly #fold: RunFold
  readonly #state: ReplayState
  /** What charts and tasks have asked for, until it is taken. */
  readonly #asks: PumpCommand[] = []
  #finding: Finding | undefined

  constructor(options: RunReplayOptions) {
    this.#options = options
    this.#fold = new RunFold(options.compiled, options)
    this.#state = new ReplayState(options)
  }

  get isFinished(): boolean {
    return this.#state.isFinished
  }

  /** Signals that no unit of work has taken for good. */
  get waitingSignals(): readonly WaitingSignal[] {
    return this.#state.signals.waiting()
  }

  /** Whether the run so far can have led to this entry. */
  check(entry: JournalEntry): Finding | undefined {
    const { root, identity } = this.#options
    if (entry.k === 'run.started') return startFinding(entry, this.#state, root)
    if (this.#state.started === undefined) {
      return unexpected('journal.k', 'run.started', entry.k)
    }
    return checkEntry(entry, { state: this.#state, root, identity })
  }

  /** What has to stand beside an entry: a receipt for what succeeded, evidence for what did not. */
  completes(entry: JournalEntry): 'unit' | 'evidence' | undefined {
    switch (entry.k) {
      case 'settled':
        if (!entry.response.success || this.#options.root.isUnit) return undefined
        return this.#state.overlayAround(entry.path) === undefined ? 'unit' : undefined
      case 'scope':
        return overlayCompletes(entry, this.#state)
      case 'wait':
        return entry.seq === null && isDeferredTask(entry.path) ? 'evidence' : undefined
      case 'run.finished':
        return entry.status === 'done' ? 'unit' : 'evidence'
      default:
        return undefined
    }
  }

  /** Does the unit that a checked entry completes again, on the state before it. */
  unit(
    entry: JournalEntry,
    recorded: RecordedUnit,
    given: Pick<RedoOptions, 'executions' | 'undo'> & { readonly below: Below }
  ): Promise<UnitAgain> {
    const { identity, root } = this.#options
    return unitAgain(entry, recorded, { state: this.#state, identity, root, ...given })
  }

  /**
   * Does again what a checked entry says has failed: an attempt, or what an overlay did that is
   * rolled back. Undefined when it says no such thing.
   */
  async failure(
    entry: JournalEntry,
    given: Omit<FailureOptions, 'principal'>
  ): Promise<FailureAgain | undefined> {
    const state = this.#state
    if (state.started === undefined) return undefined
    const options = { ...given, principal: state.started.principal }
    if (entry.k === 'returned') return bodyAgain(state, entry, options)
    if (entry.k === 'settled') {
      return entry.response.success ? undefined : failureAgain(state, entry, options)
    }
    const isRollback =
      entry.k === 'scope' && (entry.outcome === 'aborting' || entry.outcome === 'aborted')
    return isRollback ? rollbackAgain(state, entry, options) : undefined
  }

  /**
   * Runs what has not settled as far as its answers lead: each attempt whose code has run, with
   * where it is and what became of it.
   */
  async *open(
    given: Omit<OpenOptions, 'principal'>
  ): AsyncGenerator<{ readonly attempt: AskedAttempt; readonly again: FailureAgain }> {
    const state = this.#state
    if (state.started === undefined || state.isFinished) return
    const options = { ...given, principal: state.started.principal }
    // Opening a ledger needs nothing of it.
    const { openAgain } = await import('./open-work.js')
    for (const attempt of [...state.attempts.values()]) {
      if (given.isWanted?.(attempt) === false) continue
      const again = await openAgain(state, attempt, options)
      if (again !== undefined) yield { attempt, again }
    }
  }

  /** What evidence beside a checked entry must say. */
  evidenceOf(entry: JournalEntry): EvidenceDraft | undefined {
    const state = this.#state
    switch (entry.k) {
      case 'scope': {
        const overlay = state.openOverlays.get(entry.path)
        return overlay && overlayEvidence(state, overlay, entry)
      }
      case 'wait': {
        const ask = state.decisions.get(entry.path)
        return ask && releaseEvidence(state, ask, entry.at)
      }
      case 'run.finished': {
        const outside = state.cancelled?.withoutCode === true ? state.sent : state
        const isPrivate = state.root.isPrivate()
        return state.started && runEvidence(state.started, entry, outside, isPrivate)
      }
      default:
        return undefined
    }
  }

  /** Blocks whose code a unit runs: of the attempt, or of all inside the overlay. */
  blocksOf(entry: JournalEntry): readonly Block[] {
    if (entry.k === 'scope') return blocksIn(this.#state.openOverlays.get(entry.path))
    const block = this.#attemptOf(entry)?.block
    return block === undefined ? [] : [block]
  }

  /** Steps of the atomic composite that an entry ends, of which the kernel chose who does them. */
  chosenIn(entry: JournalEntry): readonly ChosenStep[] {
    return entry.k === 'scope' ? chosenIn(this.#state.openOverlays.get(entry.path)) : []
  }

  #attemptOf(entry: JournalEntry): AskedAttempt | undefined {
    if (entry.k === 'settled') return this.#state.attemptAt(entry)
    return entry.k === 'run.finished' ? this.#state.singleStep?.attempt : undefined
  }

  /** Who did what an entry completes, where the kernel chose it. */
  providerOf(entry: JournalEntry): RecordedProvider | undefined {
    if (entry.k === 'settled') return entry.provider
    return entry.k === 'run.finished' ? this.#state.singleStep?.settled.provider : undefined
  }

  /** Takes a checked entry of an item of the ledger, with the receipt that it completed. */
  take(
    entry: JournalEntry,
    text: string,
    { receiptHash, item }: { readonly receiptHash: Hash | undefined; readonly item: number }
  ): Finding | undefined {
    const state = this.#state
    state.item = item
    if (this.#options.isPicture === true) {
      state.take(entry, NOT_HASHED, undefined)
      // What was put off to a commit follows its receipt.
      state.receiptHash = receiptHash
    } else {
      state.take(entry, chainJournal(state.journalHash, text), receiptHash)
      state.sent.take(entry, receiptHash !== undefined)
      state.signedResult = signedResultOf(entry)
    }
    apply(state, entry, this)
    this.#takeAsks()
    return this.#finding
  }

  #takeAsks(): void {
    while (this.#asks.length > 0) {
      for (const ask of this.#asks.splice(0)) {
        if (ask.kind === 'cancel') this.#noteCancelled(ask.path)
        takeCommand(this.#state, ask, this)
      }
    }
  }

  /** What undoes the writes of an attempt that is cancelled is worked out again at the rollback. */
  #noteCancelled(path: string): void {
    for (const attempt of this.#state.attemptsBelow(path)) {
      const isUndone = attempt.past.recorded.whole().some(({ undo }) => undo !== undefined)
      if (isUndone) this.#state.overlayAround(attempt.ask.path)?.cancelled.push(attempt)
    }
  }

  attempt(ask: AttemptCommand, at: number, earlier: Past | undefined): AskedAttempt | undefined {
    const state = this.#state
    const block = blockOf(ask, this.#options.block)
    if (block === undefined) {
      this.#finding ??= unexpected('block', 'a registered block', ask.provider ?? ask.block)
      return undefined
    }
    const isPicture = this.#options.isPicture === true
    if (!isPicture) state.asked.add(placeKey(ask))
    return {
      ask,
      block,
      // No receipt is looked for, and nothing is executed.
      unitId: isPicture ? NO_UNIT : unitIdOf(state.runId, ask.path, ask.step),
      payloadText: isPicture ? '' : state.texts.of(ask.request.payload),
      at,
      asked: state.moment,
      past: new Past(ask, { earlier, keepsAll: true }),
      waits: new Map(),
      ...(block.body === undefined ? {} : { called: new Map() })
    }
  }

  overlay(ask: OverlayOpenCommand, at: number, outer: OpenedOverlay | undefined): OpenedOverlay {
    const nothing = { steps: [], cancelled: [], closing: undefined }
    const asked = this.#state.moment
    return { ask, at, asked, outer, outside: new Outside(), ...nothing }
  }

  deliver(path: string, event: BlockCommand | Delivery): void {
    if (!isOverlayTask(path)) this.#asks.push(...this.#fold.deliver({ path, event }))
    else this.#state.tasksAt(path)?.deliver(event as Delivery)
  }

  ask(ask: PumpCommand): void {
    this.#asks.push(ask)
  }

  settled(attempt: AskedAttempt, settled: Settled, overlay: OpenedOverlay | undefined): void {
    overlay?.steps.push({ kind: 'leaf', attempt, settled })
    if (this.#options.root.isUnit) this.#state.singleStep = { attempt, settled }
  }

  ended(
    overlay: OpenedOverlay,
    outer: OpenedOverlay | undefined,
    { outcome, n }: OverlayEnded
  ): void {
    if (outcome === 'committed') outer?.steps.push({ kind: 'scope', overlay, n })
  }

  waits(): void {}
  calledOff(): void {}
  answered(): void {}
  rewound(): void {}
  closed(): void {}
}
