import { CompactRange, type Hash, type RunId } from '../../core/index.js'
import type { LeafTable } from '../chart/leaf-table.js'
import type { Block } from '../define.js'
import type { SealedReference } from '../journal.js'
import type { AttemptAsk, DecisionAsk, Response, ScopeAsk, TimerAsk } from '../protocol.js'
import { unitIdOf } from '../pump/attempt.js'
import { SentEffects } from '../pump/sent-effects.js'
import type { CancelAsked, Place, RunStarted, Settled, WaitBegun } from '../run/entries.js'
import { referenceTo } from '../run/folded-answers.js'
import { type Errands, isErrand } from '../run/overlay-tasks.js'
import { Past } from '../run/past.js'
import { PayloadTexts } from '../run/payload-texts.js'
import { OpenWaits } from '../run/waits.js'
import type { AskedAttempt, Moment } from './asked-attempt.js'
import { Landed } from './landed.js'
import type { OpenedScope } from './opened-scope.js'
import { OverlaysAgain } from './overlay-work.js'
/** A commit or abort that a composite has asked for. */
export type ScopeEndAsk = Exclude<ScopeAsk, { readonly kind: 'scope.open' }>

/**
 * What a run's journal has led to so far, as the pump keeps it live: what was asked for and not
 * answered, what is waited for, and the totals that `run.completed` commits to.
 */
export class RunState {
  readonly runId: RunId
  readonly leafTable: LeafTable
  started: RunStarted | undefined
  entries = 0
  /** Items of the ledger before the one that is taken now, other runs' included. */
  item = 0
  /** Attempts that have ended (D7). */
  steps = 0
  /** Logical time of the last entry (K7). */
  at = 0
  journalHash = ''
  readonly receipts = new CompactRange()
  readonly attempts = new Map<string, AskedAttempt>()
  /** Every `path step attempt` that was ever asked for: late answers may still arrive. */
  readonly asked = new Set<string>()
  readonly timers = new Map<string, TimerAsk>()
  readonly decisions = new Map<string, DecisionAsk>()
  readonly waits = new OpenWaits()
  readonly waiting = new Set<string>()
  readonly scopes = new Map<string, OpenedScope>()
  /** What attempts that failed did outside. */
  readonly landed = new Landed()
  /** What failed inside overlays, done again. */
  readonly overlays = new OverlaysAgain()
  readonly scopeEnds = new Map<string, ScopeEndAsk>()
  readonly #pasts = new Map<string, Past>()
  readonly texts = new PayloadTexts()
  /** Receipt that the last entry completed. */
  receiptHash: Hash | undefined
  settled: Response | undefined
  /** The attempt with which a run that is one unit of work has ended. */
  lone: { readonly attempt: AskedAttempt; readonly settled: Settled } | undefined
  cancelled: CancelAsked | undefined
  /** What was done outside, as a run that is ended without its code tells it. */
  readonly sent = new SentEffects()
  /** Between `run.waiting` and `run.resumed` nothing happens. */
  isParked = false
  isFinished = false

  constructor(runId: RunId, leafTable: LeafTable) {
    this.runId = runId
    this.leafTable = leafTable
  }

  get base(): Hash | 'GENESIS' {
    return this.started?.base ?? 'GENESIS'
  }

  /** Now, in the order of things. */
  get moment(): Moment {
    return { entry: this.entries, item: this.item }
  }

  open(ask: AttemptAsk, block: Block): void {
    const earlier = this.#pasts.get(ask.path)
    this.#pasts.delete(ask.path)
    this.asked.add(placeKey(ask))
    this.attempts.set(ask.path, {
      ask,
      block,
      unitId: unitIdOf(this.runId, ask.path, ask.step),
      payloadText: this.texts.of(ask.request.payload),
      at: ask.options.frozenAt ?? this.at,
      asked: this.moment,
      past: new Past(ask, {
        earlier: earlier?.step === ask.step ? earlier : undefined,
        keepsAll: true
      }),
      waits: new Map()
    })
  }

  /** The attempt at a place, unless another one is open there or none. */
  attemptAt({ path, step, attempt }: Place): AskedAttempt | undefined {
    const open = this.attempts.get(path)
    return open?.ask.step === step && open.ask.attempt === attempt ? open : undefined
  }

  /** Opens a wait; one that the same call has begun on another state is over with it (L10). */
  beginWait(entry: WaitBegun): void {
    const attempt = entry.seq === null ? undefined : this.attemptAt(entry)
    if (attempt !== undefined && entry.seq !== null) {
      this.endWait(attempt, entry.seq)
      attempt.waits.set(entry.seq, entry)
    }
    this.waits.add(entry)
  }

  endWait(attempt: AskedAttempt, seq: number): void {
    const wait = attempt.waits.get(seq)
    if (wait === undefined) return
    this.waits.remove(wait.token)
    attempt.waits.delete(seq)
  }

  close(attempt: AskedAttempt, succeeded: boolean): void {
    const { path } = attempt.ask
    this.attempts.delete(path)
    if (succeeded) return this.landed.succeeded(attempt.past)
    this.#pasts.set(path, attempt.past)
    this.landed.failed(path, attempt.past)
  }

  /** Write-class results of the attempt that failed last at a path. */
  landedAt(path: string): readonly SealedReference[] {
    const past = this.#pasts.get(path)
    const writes = past?.written().filter(({ ok }) => ok)
    return (writes ?? []).map(referenceTo)
  }

  /** Drops everything at and below a path: it was cancelled. */
  cancel(path: string): void {
    for (const attempt of [...this.attempts.values()]) {
      const at = attempt.ask.path
      if (at !== path && !at.startsWith(`${path}/`)) continue
      const isUndone = attempt.past.tape.whole().some(({ undo }) => undo !== undefined)
      if (isUndone) this.scopeAround(at)?.cancelled.push(attempt)
      this.close(attempt, false)
    }
    this.decisions.delete(path)
    this.timers.delete(path)
    this.waiting.delete(path)
    this.waits.removeAt(path)
  }

  /** The errands one of which is under way at a path. */
  errandsAt(path: string): Errands | undefined {
    for (const { closing } of this.scopes.values()) {
      if (closing?.errands.isAt(path) === true) return closing.errands
    }
    return undefined
  }

  /** The innermost overlay around a path (not the path's own). */
  scopeAround(path: string): OpenedScope | undefined {
    if (this.scopes.size === 0 || isErrand(path)) return undefined
    let end = path.lastIndexOf('/')
    while (end > 0) {
      const scope = this.scopes.get(path.slice(0, end))
      if (scope !== undefined) return scope
      end = path.lastIndexOf('/', end - 1)
    }
    return undefined
  }
}

export function placeKey({ path, step, attempt }: Place): string {
  return `${path} ${step} ${attempt}`
}
