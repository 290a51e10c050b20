import {
  assert,
  canonicalize,
  type Hash,
  limits,
  type RunId,
  unreachable
} from '../../core/index.js'
import type { EvidenceDraft } from '../journal.js'
import {
  type Ask,
  type Delivery,
  failedResponse,
  type Response,
  type ScopeAsk
} from '../protocol.js'
import type {
  CancelAsked,
  EntryDraft,
  JournalEntry,
  LeftOutside,
  Place,
  RunStarted,
  ScopeEnded
} from '../run/entries.js'
import {
  type Errand,
  Errands,
  endCode,
  isErrand,
  outboxOf,
  releaseErrand,
  undoErrand
} from '../run/overlay-tasks.js'
import type { RootBlock } from '../run/root-block.js'
import { Scope } from '../run/scope.js'
import { bare, scopeUnit, type UnitContext } from '../run/unit.js'
import { seedOf, unitIdOf } from '../run/unit-ids.js'
import type { RunBook } from './book.js'
import type { PumpHost, RunEvent } from './host.js'

type ScopeEnd = Exclude<ScopeAsk, { readonly kind: 'scope.open' }>

/** An overlay that was decided, and whose errands are under way. */
interface Closing {
  readonly scope: Scope
  readonly errands: Errands
  readonly decided: ScopeEnded
}

/** What the overlays of a run need of their pump. */
export interface ScopesPort {
  readonly runId: RunId
  readonly host: PumpHost
  readonly root: RootBlock
  readonly book: RunBook
  readonly started: RunStarted
  /** The request to cancel, if the run is cancelled. */
  readonly cancel: CancelAsked | undefined
  unitContext(): UnitContext
  /** Appends an entry that completes nothing, and applies it. */
  record(draft: EntryDraft): void
  apply(entry: JournalEntry): void
  emit(event: RunEvent): void
  /** What a task of an overlay asks for, which has no actor. */
  ask(ask: Ask): void
  /** Tells a composite how its overlay ended. */
  scopeEnded(entry: ScopeEnded): void
}

/**
 * The overlays of one run's atomic composites (C4). The outermost commits as one unit of work with
 * one receipt; an inner one is merged into the one around it.
 *
 * Owns: the overlays, and the errands that they leave behind: compensations of a rollback, steps
 * put off until a commit. Does not own: how an errand's work is done; that is any leaf's way.
 *
 * - C4 What was done outside inside an overlay that is rolled back is undone, the last first, or
 *   named in the evidence. A composite goes on once its errands are over, however often the process
 *   ended meanwhile: they follow from the journal.
 */
export class Scopes {
  readonly #pump: ScopesPort
  readonly #open = new Map<string, Scope>()
  readonly #closing = new Map<string, Closing>()
  /** Commits and aborts that a recovering pump leaves to the journal. */
  #pending: ScopeEnd[] = []
  /** How often the outermost overlay found that what it had read has changed (L10). */
  #conflicts = 0

  constructor(pump: ScopesPort) {
    this.#pump = pump
  }

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#closing.size === 0
  }

  /** The innermost overlay around a path (not the path's own). */
  around(path: string): Scope | undefined {
    if (this.#open.size === 0 || isErrand(path)) return undefined
    let end = path.lastIndexOf('/')
    while (end > 0) {
      const scope = this.#open.get(path.slice(0, end))
      if (scope !== undefined) return scope
      end = path.lastIndexOf('/', end - 1)
    }
    return undefined
  }

  take(ask: ScopeAsk): void {
    if (ask.kind !== 'scope.open') {
      this.#pending.push(ask)
      return
    }
    const outer = this.around(ask.path)
    const { journal } = this.#pump.host
    const below =
      outer === undefined ? journal.read.bind(journal) : outer.view.read.bind(outer.view)
    this.#open.set(
      ask.path,
      new Scope(ask, { at: ask.frozenAt ?? this.#pump.book.at, outer, below })
    )
  }

  /** Repeats, after a restart, what was listed through open overlays before it (L10). */
  async repeatLists(): Promise<void> {
    const { journal } = this.#pump.host
    for (const scope of this.#open.values()) {
      await scope.repeatLists((prefix) => journal.list(prefix))
    }
  }

  /** Decides the commits and aborts that were asked for; true when there were any. */
  decide(): boolean | Promise<boolean> {
    for (const closing of this.#closing.values()) {
      if (!closing.errands.isOver) continue
      this.#finish(closing)
      return true
    }
    if (this.#pending.length === 0) return false
    const asks = this.#pending
    this.#pending = []
    return this.#decide(asks)
  }

  async #decide(asks: readonly ScopeEnd[]): Promise<true> {
    const { gate } = this.#pump.host
    for (const ask of asks) {
      const scope = this.#open.get(ask.path)
      if (ask.kind === 'scope.abort') this.#abort(ask)
      else if (scope === undefined || scope.outer !== undefined) this.#commit(ask)
      else if (await gate.enter(this, scope.view.writes.keys())) this.#commit(ask)
      // Another unit keeps what it has reserved: nothing has been done, so this one gives up (L10).
      else this.#abort({ ...ask, response: failedResponse('intent_conflict') })
    }
    return true
  }

  /** Lets others go on, however the overlay ended. */
  release(): void {
    this.#conflicts = 0
    this.#pump.host.gate.release(this)
  }

  #commit(ask: ScopeEnd): void {
    const pump = this.#pump
    const scope = this.#open.get(ask.path)
    assert(scope !== undefined, 'a commit ends an open overlay')
    const { path, step, attempt } = ask
    const at = pump.book.now()
    const ended = { k: 'scope', at, path, step, attempt, outcome: 'committed' } as const
    const response = bare(ask.response)
    if (scope.outer !== undefined) {
      if (!scope.outer.hasChanged(scope.view)) return pump.record({ ...ended, response })
      return this.#conflicted(scope, ask)
    }
    if (scope.view.isOutdated) return this.#conflicted(scope, ask)
    const outbox = outboxOf(scope.outside.deferred)
    const id = unitIdOf(pump.runId, path, step)
    const { base } = pump.started
    const written = pump.book.append(
      { response, ...ended, ...(outbox.length === 0 ? {} : { outbox }) },
      {
        known: scope.texts,
        unit: scopeUnit(scope, pump.unitContext(), {
          id,
          seed: { base, value: seedOf(base, id) },
          payloadText: canonicalize(scope.opened.request.payload),
          resultText: canonicalize(scope.result(response.data), scope.texts)
        })
      }
    )
    if (!written.ok) return this.#conflicted(scope, ask)
    this.#report(scope, response, written.receiptHash)
    pump.apply(written.entry)
  }

  /** What it has read has changed: it runs again, unless it has acted outside (L10). */
  #conflicted(scope: Scope, ask: ScopeEnd): void {
    // What was done outside rests on what was read: it cannot simply be done again.
    if (scope.outside.hasActed) {
      return this.#abort({ ...ask, response: failedResponse('intent_conflict') })
    }
    const { book, host } = this.#pump
    if (scope.outer === undefined) {
      this.#conflicts += 1
      if (this.#conflicts > limits.CONFLICT_RERUNS_MAX) host.gate.runAlone(this)
    }
    const { path, step, attempt } = ask
    const response = failedResponse('conflict')
    const at = book.now()
    this.#pump.record({ k: 'scope', at, path, step, attempt, outcome: 'conflict', response })
  }

  #abort(ask: ScopeEnd): void {
    const pump = this.#pump
    const scope = this.#open.get(ask.path)
    assert(scope !== undefined, 'an abort ends an open overlay')
    const { path, step, attempt } = ask
    const response = bare(ask.response)
    if (scope.outside.undoable().length === 0) {
      return this.#aborted(scope, { path, step, attempt, response })
    }
    const at = pump.book.now()
    pump.record({ k: 'scope', at, path, step, attempt, outcome: 'aborting', response })
  }

  /** Drops the overlay: all that could be undone outside has been. */
  #aborted(
    scope: Scope,
    { path, step, attempt, response }: Place & { readonly response: Response },
    errands?: Errands
  ): void {
    const pump = this.#pump
    const at = pump.book.now()
    const left = scope.outside.left((key) => errands?.undone(key))
    const isTold = scope.outer === undefined || left.length > 0
    const ended = { k: 'scope', at, path, step, attempt, outcome: 'aborted', response } as const
    const written = pump.book.append(
      { ...ended, ...(left.length === 0 ? {} : { left }) },
      isTold ? { evidence: this.#evidence(scope, { ...ended, left }) } : {}
    )
    assert(written.ok, 'an abort reads nothing')
    this.#report(scope, response, undefined)
    pump.apply(written.entry)
  }

  #evidence(
    scope: Scope,
    given: Pick<ScopeEnded, 'path' | 'step' | 'response' | 'at' | 'outcome'> & {
      readonly left: readonly LeftOutside[]
    }
  ): EvidenceDraft {
    const { path, step, response, left, at, outcome } = given
    return {
      type: outcome === 'released' ? 'failure' : 'abort',
      unitId: unitIdOf(this.#pump.runId, path, step),
      action: scope.opened.block,
      payloadText: canonicalize(scope.opened.request.payload),
      landed: scope.outside.references(left),
      code: endCode(given),
      details: {
        ...response.details,
        ...(left.length === 0 ? {} : { left: left.map((one) => ({ ...one })) })
      },
      at
    }
  }

  /** The errands of an overlay are over: its composite goes on. */
  #finish({ scope, errands, decided }: Closing): void {
    const { path, step, attempt, response } = decided
    if (decided.outcome === 'aborting') {
      return this.#aborted(scope, { path, step, attempt, response }, errands)
    }
    const { book } = this.#pump
    const at = book.now()
    const left = errands.notDone
    const ended = { k: 'scope', at, path, step, attempt, outcome: 'released', response } as const
    const written = book.append(
      { ...ended, ...(left.length === 0 ? {} : { left }) },
      left.length === 0 ? {} : { evidence: this.#evidence(scope, { ...ended, left }) }
    )
    assert(written.ok, 'an end reads nothing')
    this.#pump.apply(written.entry)
  }

  /** The run is cancelled: errands go on, and wait for nobody. */
  cancel(entry: CancelAsked): void {
    for (const { errands } of this.#closing.values()) errands.cancel(entry)
  }

  /** Gives an errand what it waits for. */
  deliver(path: string, event: Delivery): void {
    for (const { errands } of this.#closing.values()) {
      if (errands.isAt(path)) return errands.deliver(event)
    }
  }

  /** Receipt of the composite whose deferred step is done at this path. */
  parentOf(path: string): Hash | undefined {
    for (const { errands } of this.#closing.values()) {
      if (errands.isAt(path)) return errands.parentReceipt
    }
    return undefined
  }

  /** Ends the overlay as the journal says, live and in recovery alike. */
  apply(entry: ScopeEnded): void {
    const { path, outcome } = entry
    this.#pending = this.#pending.filter((ask) => ask.path !== path)
    const scope = this.#open.get(path)
    switch (outcome) {
      case 'aborting':
        if (scope !== undefined) {
          const { request } = scope.opened
          const undos = scope.outside.undoable().map((one) => undoErrand(one, request))
          this.#begin(scope, entry, undos)
        }
        return
      case 'conflict':
        this.#open.delete(path)
        // A cancelled one does not run again.
        if (this.#pump.cancel !== undefined && scope?.outer === undefined) this.release()
        break
      case 'committed': {
        this.#open.delete(path)
        if (scope?.outer === undefined) this.release()
        else scope.outer.join(scope)
        const { receiptHash } = this.#pump.book
        const deferred = scope?.outer === undefined ? scope?.outside.deferred : []
        if (scope === undefined || deferred?.length === 0 || receiptHash === undefined) break
        const releases = scope.outside.deferred.map((ask) => releaseErrand(ask, receiptHash))
        return this.#begin(scope, entry, releases)
      }
      case 'aborted':
        this.#open.delete(path)
        if (scope?.outer === undefined) this.release()
        break
      case 'released':
        break
      default:
        return unreachable(outcome)
    }
    this.#closing.delete(path)
    this.#pump.scopeEnded(entry)
  }

  #begin(scope: Scope, decided: ScopeEnded, list: readonly Errand[]): void {
    const pump = this.#pump
    const errands = new Errands({
      table: pump.root.leafTable(),
      errands: list,
      at: decided.at,
      ask: (ask) => pump.ask(ask),
      cancel: pump.cancel
    })
    this.#closing.set(decided.path, { scope, errands, decided })
  }

  #report(scope: Scope, response: Response, receiptHash: Hash | undefined): void {
    const { path, step, attempt, block } = scope.opened
    this.#pump.emit({
      type: 'block.settled',
      runId: this.#pump.runId,
      at: this.#pump.book.at,
      path,
      step,
      attempt,
      block,
      response,
      ...(receiptHash === undefined ? {} : { receiptHash })
    })
  }
}
