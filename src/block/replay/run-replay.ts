import { type Hash, type IdentityId, leafNode, type RunId } from '../../core/index.js'
import { cancelledResponse } from '../chart/execution.js'
import { RunFold } from '../chart/fold.js'
import type { LeafLibrary } from '../chart/leaf-actions.js'
import { leafTable } from '../chart/leaf-table.js'
import type { Block } from '../define.js'
import { type Finding, unexpected } from '../finding.js'
import type { CompiledNode } from '../graph/compiled.js'
import type { RecordedProvider } from '../kernel.js'
import { type Ask, type BlockCommand, type Delivery, ROOT_PATH } from '../protocol.js'
import { cancelEvent, goesOnCancelled } from '../run/cancelling.js'
import {
  type CancelAsked,
  chainJournal,
  type JournalEntry,
  type RunStarted,
  type ScopeEnded,
  type Sealed,
  type Settled
} from '../run/entries.js'
import { isErrand, isRelease } from '../run/overlay-tasks.js'
import { type RootBlock, rootCommand } from '../run/root-block.js'
import { shownWait } from '../run/waits.js'
import type { AskedAttempt } from './asked-attempt.js'
import { takeAsk } from './asks.js'
import { checkEntry, startFinding } from './entry-checks.js'
import { type EvidenceAgain, evidenceAgain } from './evidence-again.js'
import type { FailureAgain } from './failure-again.js'
import { type FailureOptions, failureAgain, rollbackAgain } from './failure-work.js'
import { impossible, unknownKind } from './odd-cases.js'
import type { Below, RedoOptions } from './redo.js'
import { RunState } from './run-state.js'
import { applyScopeEnd, scopeCompletes } from './scope-ends.js'
import { blocksIn } from './scope-work.js'
import type { RecordedUnit, UnitAgain } from './unit-again.js'
import { unitAgain } from './unit-work.js'

export interface RunReplayOptions {
  readonly runId: RunId
  readonly identity: IdentityId
  /** The run's definition, compiled again. */
  readonly root: RootBlock
  readonly compiled: CompiledNode
  readonly library: LeafLibrary
  readonly block: (name: string) => Block | undefined
}

/**
 * One run done again from its journal: the recorded deliveries go through the pure charts, which
 * must ask for exactly what was attempted, in order; units of work are executed again on their
 * tapes.
 *
 * Owns: the run's fold and what it has led to. Does not own: the ledger, or what a receipt says; it
 * gives the unit that should be there, and whoever reads the ledger compares.
 *
 * - D3: entries are taken one at a time in recorded order.
 * - D5: the same entries give the same units, byte for byte.
 */
export class RunReplay {
  readonly #options: RunReplayOptions
  readonly #fold: RunFold
  readonly #state: RunState
  readonly #errandAsks: Ask[] = []

  constructor(options: RunReplayOptions) {
    this.#options = options
    this.#fold = new RunFold(options.compiled, { library: options.library })
    this.#state = new RunState(options.runId, leafTable(options.library))
  }

  get isFinished(): boolean {
    return this.#state.isFinished
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
        return this.#state.scopeAround(entry.path) === undefined ? 'unit' : undefined
      case 'scope':
        return scopeCompletes(entry, this.#state)
      case 'wait':
        return entry.seq === null && isRelease(entry.path) ? 'evidence' : undefined
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
    if (entry.k === 'settled') {
      return entry.response.success ? undefined : failureAgain(state, entry, options)
    }
    const isRollback =
      entry.k === 'scope' && (entry.outcome === 'aborting' || entry.outcome === 'aborted')
    return isRollback ? rollbackAgain(state, entry, options) : undefined
  }

  /** What evidence beside a checked entry must say. */
  evidenceOf(entry: JournalEntry): EvidenceAgain | undefined {
    return evidenceAgain(entry, this.#state, this.#options.root)
  }

  /** Blocks whose code a unit runs: of the attempt, or of all inside the overlay. */
  blocksOf(entry: JournalEntry): readonly Block[] {
    if (entry.k === 'scope') return blocksIn(this.#state.scopes.get(entry.path))
    const block = this.#attemptOf(entry)?.block
    return block === undefined ? [] : [block]
  }

  #attemptOf(entry: JournalEntry): AskedAttempt | undefined {
    if (entry.k === 'settled') return this.#state.attemptAt(entry)
    return entry.k === 'run.finished' ? this.#state.lone?.attempt : undefined
  }

  /** Who did what an entry completes, where the kernel chose it. */
  providerOf(entry: JournalEntry): RecordedProvider | undefined {
    if (entry.k === 'settled') return entry.provider
    return entry.k === 'run.finished' ? this.#state.lone?.settled.provider : undefined
  }

  /** Takes a checked entry of an item of the ledger, with the receipt that it completed. */
  take(
    entry: JournalEntry,
    text: string,
    { receiptHash, item }: { readonly receiptHash: Hash | undefined; readonly item: number }
  ): Finding | undefined {
    const state = this.#state
    state.entries += 1
    state.item = item
    if (entry.k === 'settled') state.steps += 1
    state.at = entry.at
    state.journalHash = chainJournal(state.journalHash, text)
    state.receiptHash = receiptHash
    if (receiptHash !== undefined) state.receipts.append(leafNode(Buffer.from(receiptHash, 'hex')))
    state.sent.take(entry, receiptHash !== undefined)
    return this.#apply(entry)
  }

  #apply(entry: JournalEntry): Finding | undefined {
    const state = this.#state
    switch (entry.k) {
      case 'run.started':
        return this.#begin(entry)
      case 'requested':
        state.attemptAt(entry)?.past.requested.set(entry.seq, entry)
        state.scopeAround(entry.path)?.outside.requested(entry)
        return undefined
      case 'sealed':
        return this.#sealed(entry)
      case 'wait':
        state.beginWait(entry)
        return undefined
      case 'waiting':
        return this.#waiting(entry)
      case 'answered':
        state.waits.remove(entry.token)
        state.attemptAt(entry)?.waits.delete(entry.seq)
        return undefined
      case 'rewound': {
        const attempt = state.attemptAt(entry)
        if (attempt === undefined) return undefined
        for (const seq of entry.dropped) state.endWait(attempt, seq)
        attempt.past = attempt.past.without(entry.dropped)
        return undefined
      }
      case 'settled':
        return this.#settled(entry)
      case 'scope':
        return this.#scopeEnded(entry)
      case 'timer':
        state.timers.delete(entry.path)
        return this.#deliver(entry.path, { type: 'timer.fired', at: entry.at })
      case 'decision': {
        state.waits.remove(entry.token)
        state.decisions.delete(entry.path)
        const patch = entry.patch === null ? {} : { patch: entry.patch }
        const action = entry.action as (Delivery & { type: 'decision.made' })['action']
        return this.#deliver(entry.path, { type: 'decision.made', action, ...patch, at: entry.at })
      }
      case 'cancel':
        return this.#cancelled(entry)
      case 'run.finished':
        state.isFinished = true
        return undefined
      case 'run.waiting':
        state.isParked = true
        return undefined
      case 'run.resumed':
        state.isParked = false
        return undefined
      default:
        return unknownKind(entry)
    }
  }

  #begin(entry: RunStarted): Finding | undefined {
    this.#state.started = entry
    return this.#deliver(ROOT_PATH, rootCommand(this.#options.root, entry))
  }

  #sealed(entry: Sealed): Finding | undefined {
    const { path, seq, at } = entry
    const state = this.#state
    state.scopeAround(path)?.outside.sealed(entry)
    const attempt = state.attemptAt(entry)
    if (attempt === undefined) return undefined
    state.endWait(attempt, seq)
    attempt.past.tape.add(entry)
    if (!state.waiting.delete(path)) return undefined
    return this.#deliver(path, { type: 'attempt.resumed', at })
  }

  #waiting(entry: JournalEntry & { readonly k: 'waiting' }): Finding | undefined {
    const wait = this.#state.waits.get(entry.token)
    if (wait === undefined) return undefined
    this.#state.waiting.add(entry.path)
    const sent = this.#state.attemptAt(entry)?.past.hasSent() === true
    return this.#deliver(entry.path, {
      type: 'attempt.waiting',
      wait: shownWait(wait),
      sent,
      at: entry.at
    })
  }

  #settled(entry: Settled): Finding | undefined {
    const { path, response, sent, at } = entry
    const state = this.#state
    const attempt = state.attemptAt(entry)
    if (attempt === undefined) throw impossible('a checked entry has its attempt')
    const scope = state.scopeAround(path)
    if (entry.overlay !== undefined) scope?.steps.push({ kind: 'leaf', attempt, settled: entry })
    if (response.success && attempt.ask.options.deferred === true) {
      scope?.outside.deferred.push(attempt.ask)
    }
    if (this.#options.root.isUnit) state.lone = { attempt, settled: entry }
    state.waiting.delete(path)
    state.waits.removeAt(path)
    state.close(attempt, response.success)
    return this.#deliver(path, { type: 'attempt.settled', response, at, sent })
  }

  #scopeEnded(entry: ScopeEnded): Finding | undefined {
    const state = this.#state
    const told = applyScopeEnd(entry, state, (ask) => this.#errandAsks.push(ask))
    if (told === undefined) return this.#takeAsks([])
    const finding = this.#deliver(entry.path, told)
    const { cancelled } = state
    if (cancelled === undefined || !goesOnCancelled(entry, cancelled)) return finding
    return finding ?? this.#deliver(ROOT_PATH, cancelEvent(cancelled, entry.at))
  }

  #cancelled(entry: CancelAsked): Finding | undefined {
    const state = this.#state
    state.cancelled = entry
    if (entry.withoutCode === true) {
      state.settled = cancelledResponse(cancelEvent(entry, entry.at))
      return undefined
    }
    const finding = this.#deliver(ROOT_PATH, cancelEvent(entry, entry.at))
    for (const { closing } of state.scopes.values()) closing?.errands.cancel(entry)
    return finding ?? this.#takeAsks([])
  }

  #deliver(path: string, event: BlockCommand | Delivery): Finding | undefined {
    if (!isErrand(path)) return this.#takeAsks(this.#fold.deliver({ path, event }))
    this.#state.errandsAt(path)?.deliver(event as Delivery)
    return this.#takeAsks([])
  }

  #takeAsks(asks: readonly Ask[]): Finding | undefined {
    let finding: Finding | undefined
    const { block } = this.#options
    for (const ask of [...asks, ...this.#errandAsks.splice(0)]) {
      finding ??= takeAsk(ask, this.#state, block)
    }
    return finding
  }
}
