import type { AttemptCommand, PumpCommand } from '../../src/block/chart/protocol.js'
import { leafRootOf } from '../../src/block/document/root.js'
import { apply, takeCommand } from '../../src/block/run/apply.js'
import type {
  EntryDraft,
  JournalEntry,
  Rewound,
  Sealed,
  Settled,
  WaitBegun
} from '../../src/block/run/entries.js'
import { Outside } from '../../src/block/run/outside.js'
import { Past } from '../../src/block/run/past.js'
import {
  type Driver,
  type OpenAttempt,
  type OpenOverlay,
  RunState
} from '../../src/block/run/run-state.js'
import { unitIdOf } from '../../src/block/run/unit.js'
import { type Block, defineBlock } from '../../src/code/block.js'
import type { NodeOptions } from '../../src/code/request.js'
import { type Hash, type IdentityId, type RunId, sha256Hex } from '../../src/core/index.js'
import { testRequest } from './fake-pump.js'

export const runId = 'run-1' as RunId
export const identity = 'a'.repeat(64) as IdentityId
export const place = { path: 'root/pay', step: 1, attempt: 1 } as const

const block: Block = defineBlock({
  name: 'pay',
  version: '1',
  sideEffects: 'non_idempotent',
  compensate: 'refund',
  run: () => null
})
const { root } = leafRootOf({ definition: {}, name: 'pay', block, isPrivate: () => false })

/** A run whose charts are played by the test: what they would get is noted. */
export class RunOfTest implements Driver<OpenAttempt, OpenOverlay> {
  readonly state = new RunState({ runId, identity, root })
  /** What the driver got, in order. */
  readonly told: string[] = []
  readonly asks: PumpCommand[] = []
  /** Events that charts got, with what is in them. */
  readonly events: (readonly [path: string, event: object])[] = []
  /** What else the driver got, in order. */
  readonly noted: (readonly unknown[])[] = []
  /** Whether the block of the attempts is registered. */
  isRegistered = true

  constructor() {
    this.apply({
      k: 'run.started',
      at: 1,
      status: 'running',
      name: 'pay',
      definition: {},
      definitionHash: root.definitionHash,
      input: null,
      inputHash: sha256Hex('null'),
      base: 'GENESIS',
      principal: { kind: 'owner' }
    })
  }

  /** Counts and applies the entry of a draft, and gives it back. */
  apply(draft: EntryDraft, receiptHash?: Hash): JournalEntry {
    // Nothing changes an entry that it applies: it would be another one for the next driver.
    const entry = Object.freeze({ run: runId, n: this.state.entries, ...draft } as JournalEntry)
    this.state.take(entry, sha256Hex(`${entry.n}`), receiptHash)
    apply(this.state, entry, this)
    return entry
  }

  ask(ask: PumpCommand): void {
    this.asks.push(ask)
  }

  /** An attempt that a chart asks for. */
  open(path: string = place.path, attempt = 1, options: NodeOptions = {}): OpenAttempt {
    const ask: AttemptCommand = {
      kind: 'attempt',
      path,
      step: 1,
      attempt,
      block: 'pay',
      provider: null,
      request: testRequest(null),
      options,
      sideEffects: 'non_idempotent'
    }
    takeCommand(this.state, ask, this)
    const opened = this.state.attempts.get(path)
    if (opened === undefined) throw new Error('no attempt')
    return opened
  }

  /** An overlay that a chart asks for. */
  openScope(path: string): OpenOverlay {
    const opened = { kind: 'scope.open', path, step: 1, attempt: 1, block: 'all' } as const
    takeCommand(this.state, { ...opened, request: testRequest(null), outermost: true }, this)
    const scope = this.state.openOverlays.get(path)
    if (scope === undefined) throw new Error('no overlay')
    return scope
  }

  attempt(ask: AttemptCommand, at: number, earlier: Past | undefined): OpenAttempt | undefined {
    if (!this.isRegistered) return undefined
    const unitId = unitIdOf(runId, ask.path, ask.step)
    return { ask, block, unitId, at, past: new Past(ask, { earlier }), waits: new Map() }
  }

  overlay(ask: OpenOverlay['ask'], at: number, outer: OpenOverlay | undefined): OpenOverlay {
    return { ask, at, outer, outside: new Outside(), closing: undefined }
  }

  deliver(path: string, event: { readonly type: string }): void {
    this.events.push([path, event])
    const tasks = this.state.tasksAt(path)
    if (tasks === undefined) this.told.push(`${event.type} ${path}`)
    else tasks.deliver(event as Parameters<typeof tasks.deliver>[0])
  }

  calledOff(key: string): void {
    this.told.push(`called off ${key}`)
  }

  closed({ ask }: OpenAttempt): void {
    this.told.push(`closed ${ask.path}`)
  }

  ended({ ask }: OpenOverlay, outer: OpenOverlay | undefined): void {
    this.told.push(`ended ${ask.path}`)
    this.noted.push(['ended', ask.path, outer?.ask.path])
  }

  waits({ token }: WaitBegun): void {
    this.noted.push(['waits', token])
  }

  answered({ ask }: OpenAttempt, { seq }: Sealed): void {
    this.noted.push(['answered', ask.path, seq])
  }

  rewound({ ask }: OpenAttempt, { dropped }: Rewound): void {
    this.noted.push(['rewound', ask.path, dropped])
  }

  settled({ ask }: OpenAttempt, _: Settled, overlay: OpenOverlay | undefined): void {
    this.noted.push(['settled', ask.path, overlay?.ask.path])
  }

  /** What the state says, as plain data. */
  plain(): unknown {
    const { state } = this
    return JSON.parse(
      JSON.stringify({
        totals: [state.entries, state.at, state.journalHash, state.steps, state.receipts.save()],
        attempts: [...state.attempts].map(([path, { at, past, waits }]) => [
          path,
          at,
          past.saved(),
          [...waits]
        ]),
        pasts: [...(state.pasts ?? [])].map(([path, past]) => [path, past.saved()]),
        waits: [state.waits.all(), state.waits.askings(), state.attempts.waiting()],
        asked: [[...state.timers], [...state.decisions], [...state.overlayEnds]],
        scopes: [...state.openOverlays].map(([path, { outside, closing }]) => [
          path,
          outside.left(() => undefined),
          outside.deferred,
          closing?.decided
        ]),
        ends: [state.landed, state.inDoubt, state.cancelled, state.settled],
        flags: [state.isParked, state.isFinished]
      })
    )
  }
}
