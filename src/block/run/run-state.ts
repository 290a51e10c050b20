import {
  type Attribution,
  type Block,
  type FunctionCall,
  type Response,
  type StateView,
  tagsSet
} from '../../code/index.js'
import {
  assert,
  CompactRange,
  type Hash,
  type IdentityId,
  type JsonObject,
  leafNode,
  limits,
  type RunId,
  type UnitId
} from '../../core/index.js'
import type {
  AttemptCommand,
  BlockCommand,
  DecisionCommand,
  Delivery,
  OverlayCommand,
  PumpCommand,
  TimerCommand
} from '../chart/protocol.js'
import type {
  AttemptKey,
  CancelAsked,
  JournalEntry,
  OpenWait,
  OverlayEnded,
  Rewound,
  RunStarted,
  Sealed,
  Settled,
  WaitBegun
} from './entries.js'
import { referenceTo } from './folded-answers.js'
import type { SealedReference } from './journal.js'
import { OpenAttempts } from './open-attempts.js'
import type { Outside } from './outside.js'
import { isOverlayTask, type OverlayTasks } from './overlay-tasks.js'
import type { Past } from './past.js'
import type { RootBlock } from './root-block.js'
import { RunSignals } from './signals.js'
import { OpenWaits, openWaitOf } from './waits.js'

/** What the entries of one run's journal add up to, whatever they mean. */
export class RunTotals {
  readonly runId: RunId
  /** How the run began. */
  started: RunStarted | undefined
  /** Number of the next entry. */
  entries = 0
  /** Logical time of the last entry (K7). */
  at = 0
  /** Over all entries so far. */
  journalHash = ''
  /** Attempts that have ended, retries included (D7). */
  steps = 0
  /** Receipt that the last entry completed. */
  receiptHash: Hash | undefined
  /** Receipts of the run. */
  receipts = new CompactRange()
  /** Tags that its code has set last; undefined: none. */
  tags: readonly string[] | undefined

  constructor(runId: RunId) {
    this.runId = runId
  }

  /** Counts an entry. */
  take(entry: JournalEntry, journalHash: Hash, receiptHash: Hash | undefined): void {
    this.entries = entry.n + 1
    if (entry.k === 'settled') this.steps += 1
    else if (entry.k === 'sealed') this.tags = tagsSet(entry) ?? this.tags
    this.at = entry.at
    this.journalHash = journalHash
    this.receiptHash = receiptHash
    if (receiptHash !== undefined) this.receipts.append(leafNode(Buffer.from(receiptHash, 'hex')))
  }
}

/** What a unit of work is made of: a live attempt has it, and so has one that was done again. */
export interface LeafWork {
  readonly unitId: UnitId
  readonly block: Block
  readonly ask: AttemptCommand
  /** Frozen time, milliseconds. */
  readonly at: number
  readonly seed: { readonly base: Hash | 'GENESIS'; readonly value: Hash }
  readonly view: StateView
  readonly capabilitiesUsed: readonly string[]
  readonly attribution: Attribution | undefined
  sealedReferences(): readonly SealedReference[]
}

export type OverlayOpenCommand = Extract<OverlayCommand, { readonly kind: 'scope.open' }>

/** A commit or abort that a composite has asked for. */
export type OverlayEndCommand = Exclude<OverlayCommand, { readonly kind: 'scope.open' }>

/** An attempt that a chart has asked for and that has not settled yet. */
export interface OpenAttempt {
  readonly ask: AttemptCommand
  readonly block: Block
  readonly unitId: UnitId
  /** Its frozen time: when it was asked for (K7). */
  readonly at: number
  /** What was sealed and asked for in it, and in the attempts before it. */
  past: Past
  /** Its open waits by the number of their call. */
  readonly waits: Map<number, WaitBegun>
  /** Of an attempt of the kernel that has been executed: what the receipt says of it. */
  readonly attribution?: Attribution | undefined
  /** Of a workflow function: what its code has asked for, by the number of the call. */
  readonly called?: Map<number, FunctionCall>
  /** Of a workflow function: it waits for nothing but its children. */
  readonly awaitsChildren?: boolean
}

/** An overlay of the run (C4). */
export interface OpenOverlay {
  readonly ask: OverlayOpenCommand
  readonly at: number
  readonly outer: OpenOverlay | undefined
  /** What happened outside, and what is put off until the commit. */
  readonly outside: Outside
  /** What was decided, and the tasks that come before its composite continues. */
  closing: { readonly decided: OverlayEnded; readonly tasks: OverlayTasks } | undefined
}

/**
 * What a driver attaches to the state of a run: how attempts and overlays are made, and what is
 * done when an entry changes them. It is called inside `apply` and `takeCommand`, synchronously.
 */
export interface Driver<Attempt extends OpenAttempt, Scope extends OpenOverlay> {
  /** Makes an attempt that was asked for; undefined when no such block is registered. */
  attempt(ask: AttemptCommand, at: number, earlier: Past | undefined): Attempt | undefined
  /** Makes an overlay that was asked for. */
  overlay(ask: OverlayOpenCommand, at: number, outer: Scope | undefined): Scope
  /** Gives a chart what it waits for. */
  deliver(path: string, event: BlockCommand | Delivery): void
  /** Hands on what a task asks for, which has no actor. */
  ask(ask: PumpCommand): void
  /** A wait was begun. */
  waits(wait: WaitBegun): void
  /** A due time is over: of the wait with this token, or of the timer at this path. */
  calledOff(key: string): void
  /** A result of the attempt was recorded. */
  answered(attempt: Attempt, entry: Sealed): void
  /** Recorded results of the attempt were dropped. */
  rewound(attempt: Attempt, entry: Rewound): void
  /** An attempt has ended; `overlay`: the overlay that takes over its changes. */
  settled(attempt: Attempt, entry: Settled, overlay: Scope | undefined): void
  /** An attempt was settled or cancelled, and is no more. */
  closed(attempt: Attempt): void
  /** An overlay was merged into the one around it, committed or dropped. */
  ended(overlay: Scope, outer: Scope | undefined, entry: OverlayEnded): void
}

/** What runs, and whose it is. */
export interface RunTerms {
  readonly runId: RunId
  readonly identity: IdentityId
  readonly root: RootBlock
}

/**
 * What a run's journal has led to: what was asked for and not answered, what is waited for, and the
 * totals that `run.completed` commits to. Live, in recovery and in verification the same.
 *
 * Owns: the state of one run. Does not own: charts and whatever a driver attaches to attempts and
 * overlays.
 *
 * - D10: {@link RunTotals.take} counts an entry, and only {@link apply} and {@link takeCommand} say
 *   what it changes. A checkpoint restores what they had led to.
 */
export class RunState<
  Attempt extends OpenAttempt = OpenAttempt,
  Scope extends OpenOverlay = OpenOverlay
> extends RunTotals {
  readonly identity: IdentityId
  readonly root: RootBlock
  readonly attempts = new OpenAttempts<Attempt>()
  /** What the failed attempt before the next one of the same step left behind, by path. */
  pasts: Map<string, Past> | undefined
  readonly waits = new OpenWaits()
  readonly signals = new RunSignals()
  readonly timers = new Map<string, TimerCommand>()
  readonly decisions = new Map<string, DecisionCommand>()
  readonly openOverlays = new Map<string, Scope>()
  readonly overlayEnds = new Map<string, OverlayEndCommand>()
  /** Write-class results of attempts that did not succeed: they happened all the same. */
  landed: readonly SealedReference[] = []
  /** Write-class effects that were sent and never answered: nothing tells whether they happened. */
  inDoubt: readonly JsonObject[] = []
  /** Times of attempts that a checkpoint has: they are asked for again, and stay what they are. */
  restoredTimes: Map<string, number> | undefined
  /** The request to cancel, if the run is cancelled. */
  cancelled: CancelAsked | undefined
  /** Between `run.waiting` and `run.resumed` nothing happens. */
  isParked = false
  /** Response of the root block, once it has ended. */
  settled: Response | undefined
  isFinished = false

  constructor({ runId, identity, root }: RunTerms) {
    super(runId)
    this.identity = identity
    this.root = root
  }

  get base(): Hash | 'GENESIS' {
    return this.started?.base ?? 'GENESIS'
  }

  /** The attempt at a place, unless another one is open there or none. */
  attemptAt({ path, step, attempt }: AttemptKey): Attempt | undefined {
    const open = this.attempts.get(path)
    return open?.ask.step === step && open.ask.attempt === attempt ? open : undefined
  }

  /** Attempts at and below a path. */
  attemptsBelow(path: string): readonly Attempt[] {
    const below = `${path}/`
    return [...this.attempts.values()].filter(
      ({ ask }) => ask.path === path || ask.path.startsWith(below)
    )
  }

  /** The innermost overlay around a path (not the path's own). */
  overlayAround(path: string): Scope | undefined {
    if (this.openOverlays.size === 0 || isOverlayTask(path)) return undefined
    let end = path.lastIndexOf('/')
    while (end > 0) {
      const overlay = this.openOverlays.get(path.slice(0, end))
      if (overlay !== undefined) return overlay
      end = path.lastIndexOf('/', end - 1)
    }
    return undefined
  }

  /** The tasks one of which is under way at a path. */
  tasksAt(path: string): OverlayTasks | undefined {
    for (const { closing } of this.openOverlays.values()) {
      if (closing?.tasks.isAt(path) === true) return closing.tasks
    }
    return undefined
  }

  /** Waits that a message can end, as they are shown; `isReplaced`: by another call. */
  shownWaits(isReplaced: (wait: WaitBegun) => boolean = () => false): readonly OpenWait[] {
    const all = this.waits.all()
    const open = all.filter((wait) => wait.actions.length > 0 && !isReplaced(wait))
    return open.map((wait) => openWaitOf(wait, this.identity, this.waits.approvalsOf(wait.token)))
  }

  /** Whether nothing is left that a message or a due time could end. */
  get awaitsNothing(): boolean {
    return this.waits.isEmpty && this.nextDue() === null
  }

  /** When the first wait, timer or deadline is due, or null. */
  nextDue(): number | null {
    let first = Number.POSITIVE_INFINITY
    for (const { due } of this.waits.all()) first = Math.min(first, due ?? first)
    for (const { due } of this.timers.values()) first = Math.min(first, due)
    for (const { ask } of this.attempts.values()) {
      first = Math.min(first, ask.options.deadline ?? first)
    }
    return first === Number.POSITIVE_INFINITY ? null : first
  }

  /** Whether only a message, or a time that is far enough, resumes the run. */
  mayPark(now: number): boolean {
    for (const { awaitsChildren } of this.attempts.awake()) {
      if (awaitsChildren !== true) return false
    }
    assert(!this.awaitsNothing, `run ${this.runId} has nothing to do and nothing to wait for`)
    if (this.waits.isSoonDue(now + limits.PARK_AFTER_MS)) return false
    let answers = 0
    for (const { past } of this.attempts.values()) answers += past.answers
    const due = this.nextDue()
    // Resuming it again gives its code all of its answers: code that polls would spend its time so.
    const worthMs = limits.PARK_AFTER_MS + answers * limits.PARK_AFTER_ANSWER_MS
    return due === null || due > now + worthMs
  }

  /** Write-class results of the attempt that failed last at a path. */
  appliedAt(path: string): readonly SealedReference[] {
    const { written = [] } = this.pasts?.get(path)?.outside() ?? {}
    return written.filter(({ ok }) => ok).map(referenceTo)
  }

  /** Keeps what an attempt that failed leaves to the next one of its step. */
  keepPast(path: string, past: Past): void {
    this.pasts ??= new Map()
    this.pasts.set(path, past)
  }
}
