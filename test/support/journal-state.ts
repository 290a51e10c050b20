import type {
  AttemptCommand,
  BlockCommand,
  Delivery,
  PumpCommand
} from '../../src/block/chart/protocol.js'
import { RunFold } from '../../src/block/replay/fold.js'
import { apply, takeCommand } from '../../src/block/run/apply.js'
import type { JournalEntry, OverlayEnded, Settled } from '../../src/block/run/entries.js'
import { Outside } from '../../src/block/run/outside.js'
import { isOverlayTask } from '../../src/block/run/overlay-tasks.js'
import { Past } from '../../src/block/run/past.js'
import {
  type Driver,
  type OpenAttempt,
  type OpenOverlay,
  type OverlayOpenCommand,
  RunState
} from '../../src/block/run/run-state.js'
import { unitIdOf } from '../../src/block/run/unit.js'
import { defineBlock } from '../../src/code/index.js'
import { chainJournal, type Hash, type IdentityId, type RunId } from '../../src/core/index.js'
import type { RecordedRun } from '../../src/runtime/code/recorded-run.js'
import type { NeutralState } from './neutral-state.js'

/** A fold runs no code. */
const neverRun = defineBlock({
  name: 'never-run',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => null
})

interface Scope extends OpenOverlay {
  readonly outer: Scope | undefined
  readonly writes: Map<string, string | null>
}

/** The code of a run, as its journal names it. */
export type Code = Extract<RecordedRun, { readonly kind: 'ready' }>

/**
 * Folds a journal by the code of production, and says in neutral terms what came of each entry. The
 * one place of the journal vectors that knows how production keeps the state of a run.
 */
export class JournalFold implements Driver<OpenAttempt, Scope> {
  readonly #fold: RunFold
  readonly #state: RunState<OpenAttempt, Scope>
  #asks: PumpCommand[] = []

  constructor(runId: RunId, { compiled, root }: Code) {
    const library = compiled.kind === 'leaf' ? compiled.library : compiled.plan
    this.#fold = new RunFold(compiled, { library })
    // No entry of a journal is applied otherwise for it.
    const identity = '0'.repeat(64) as IdentityId
    this.#state = new RunState({ runId, identity, root })
  }

  take(text: string, receiptHash: Hash | undefined): NeutralState {
    const entry = JSON.parse(text) as JournalEntry
    const state = this.#state
    state.take(entry, chainJournal(state.journalHash, text), receiptHash)
    apply(state, entry, this)
    const commands: string[] = []
    while (this.#asks.length > 0) {
      for (const ask of this.#asks.splice(0)) {
        commands.push(commandOf(ask))
        takeCommand(state, ask, this)
      }
    }
    return this.#neutral(entry, commands)
  }

  #neutral({ n, k }: JournalEntry, commands: readonly string[]): NeutralState {
    const { at, journalHash, steps, receipts, waits, timers, decisions } = this.#state
    const {
      attempts,
      openOverlays: scopes,
      overlayEnds,
      landed,
      inDoubt,
      cancelled,
      settled
    } = this.#state
    return {
      n,
      k,
      at,
      steps,
      journalHash,
      receipts: { count: receipts.size, root: receipts.root() },
      status: this.#state.isFinished ? 'ended' : this.#state.isParked ? 'parked' : 'running',
      cancelled: cancelled !== undefined,
      ended: settled === undefined ? null : settled.success ? 'success' : (settled.reason ?? ''),
      waits: waits
        .all()
        .map(({ token, digest, path, step, seq, due }) => {
          const approvals = waits.approvalsOf(token).map(({ key }) => key)
          const signed = approvals.length === 0 ? {} : { approvals }
          return { token, digest, path, step, seq, due, ...signed }
        })
        .sort(by(({ token }) => token)),
      waiting: [...attempts.waiting()].sort(),
      timers: [...timers.values()].map(({ path, due }) => ({ path, due })).sort(by(pathOf)),
      decisions: [...decisions.keys()].sort(),
      attempts: [...attempts.values()].map(attemptState).sort(by(pathOf)),
      overlays: [...scopes.values()]
        .map((scope) => ({
          path: scope.ask.path,
          step: scope.ask.step,
          attempt: scope.ask.attempt,
          writes: [...scope.writes].sort(by(([key]) => key)),
          asked: overlayEnds.get(scope.ask.path)?.kind ?? null,
          closing: scope.closing?.decided.outcome ?? null
        }))
        .sort(by(pathOf)),
      landed: landed.map(({ responseHash }) => responseHash),
      inDoubt: inDoubt.map(({ key }) => String(key)),
      commands
    }
  }

  attempt(ask: AttemptCommand, at: number, earlier: Past | undefined): OpenAttempt | undefined {
    const unitId = unitIdOf(this.#state.runId, ask.path, ask.step)
    const past = new Past(ask, { earlier, keepsAll: true })
    return { ask, block: neverRun, unitId, at, past, waits: new Map() }
  }

  overlay(ask: OverlayOpenCommand, at: number, outer: Scope | undefined): Scope {
    return { ask, at, outer, outside: new Outside(), closing: undefined, writes: new Map() }
  }

  deliver(path: string, event: BlockCommand | Delivery): void {
    if (!isOverlayTask(path)) this.#asks.push(...this.#fold.deliver({ path, event }))
    else this.#state.tasksAt(path)?.deliver(event as Delivery)
  }

  ask(ask: PumpCommand): void {
    this.#asks.push(ask)
  }

  settled(_: OpenAttempt, { overlay }: Settled, scope: Scope | undefined): void {
    for (const [key, text] of overlay?.writes ?? []) scope?.writes.set(key, text)
  }

  ended(scope: Scope, outer: Scope | undefined, { outcome }: OverlayEnded): void {
    if (outcome !== 'committed') return
    for (const [key, text] of scope.writes) outer?.writes.set(key, text)
  }

  waits(): void {}
  calledOff(): void {}
  answered(): void {}
  rewound(): void {}
  closed(): void {}
}

function attemptState({ ask, at, past, waits }: OpenAttempt): NeutralState['attempts'][number] {
  const { path, step, attempt, block } = ask
  return {
    path,
    step,
    attempt,
    block,
    at,
    tape: past.recorded.whole().map(({ seq, responseHash }) => [seq, responseHash] as const),
    unanswered: [...past.requested.keys()].filter((seq) => !past.recorded.has(seq)),
    waits: [...waits.keys()].sort()
  }
}

function commandOf(ask: PumpCommand): string {
  const place =
    'attempt' in ask ? ` ${ask.step}.${ask.attempt}` : 'step' in ask ? ` ${ask.step}` : ''
  return `${ask.kind} ${ask.path}${place}`
}

const pathOf = ({ path }: { readonly path: string }) => path

function by<Item>(name: (item: Item) => string): (one: Item, other: Item) => number {
  return (one, other) => (name(one) < name(other) ? -1 : name(one) > name(other) ? 1 : 0)
}
